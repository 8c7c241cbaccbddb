// mixed_soak FIRST_SEED COUNT [--keep FOLDER] [--knobs]: judges many random worlds and reports the
// seeds that fail, by kind of failure. Worlds are judged in child processes, so that a crash costs
// one world. --knobs: each under its preset with up to eight random settings.
// mixed_soak FIRST_SEED COUNT --write FOLDER: judges none, but writes the worlds of each preset
// into FOLDER/PRESET.jsonl, for `makeway plan --batch` (tools/compare-decisions.sh).
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/check.hpp"
#include "base/prng.hpp"
#include "codec/dump.hpp"
#include "codec/presets.hpp"
#include "model/knobs.hpp"
#include "support/mixed_check.hpp"
#include "support/random_configuration.hpp"
#include "support/random_planning.hpp"
#include "support/random_world.hpp"
#include "support/shrink.hpp"

namespace makeway {
namespace {

/// After so long a world counts as hanging; it takes milliseconds.
constexpr unsigned hang_s = 20;
constexpr std::uint64_t chunk_max = 1000;

/// What the parent learns of a child that crashes.
struct Progress {
  std::uint64_t seed = 0;
  std::uint64_t judged = 0;
  std::uint64_t refused = 0;
};

Progress* shared_progress() {
  void* const memory =
      mmap(nullptr, sizeof(Progress), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  CHECK(memory != MAP_FAILED, "memory that two processes share");
  return new (memory) Progress;
}

/// A world and what it is decided under.
struct SoakCase : RandomWorldCase {
  std::vector<std::string> overrides;

  Configuration configuration() const {
    Configuration result = *load_preset(preset);
    for (const std::string& each : overrides) {
      CHECK(!apply_override(result, each), "an override that was accepted before");
    }
    return result;
  }
  std::string settings() const {
    std::string text = preset;
    for (const std::string& each : overrides) text += " --set " + each;
    return text;
  }
};

SoakCase world_of(std::uint64_t seed, bool knobs) {
  Prng random(seed);
  SoakCase item{random_world_case(random), {}};
  if (knobs) item.overrides = random_overrides(random, item.preset, random.below(9));
  return item;
}

// ---- Child processes ----------------------------------------------------------------------------

struct Ending {
  int signal = 0;      ///< 0: it ended by itself.
  std::string output;  ///< What it wrote, standard error included.
};

std::string read_all(int file) {
  std::string text;
  std::array<char, 4096> buffer{};
  while (true) {
    const ssize_t count = read(file, buffer.data(), buffer.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return text;
    text.append(buffer.data(), static_cast<std::size_t>(count));
  }
}

/// Runs `work` in a child; what it prints is what it has to say.
Ending in_child(const std::function<void()>& work) {
  std::array<int, 2> ends{};
  CHECK(pipe(ends.data()) == 0, "a pipe");
  std::fflush(stdout);
  const pid_t child = fork();
  CHECK(child >= 0, "a child process");
  if (child == 0) {
    close(ends[0]);
    dup2(ends[1], STDOUT_FILENO);
    dup2(ends[1], STDERR_FILENO);
    work();
    std::fflush(stdout);
    _exit(0);
  }
  close(ends[1]);
  Ending ending{.signal = 0, .output = read_all(ends[0])};
  close(ends[0]);
  int status = 0;
  CHECK(waitpid(child, &status, 0) == child, "the child that was started");
  if (WIFSIGNALED(status)) ending.signal = WTERMSIG(status);
  return ending;
}

// ---- Kinds of failure ---------------------------------------------------------------------------

/// Without names and numbers, so that equal causes look alike.
std::string kind_of(std::string_view complaint) {
  std::string kind;
  std::string word;
  const auto finish = [&] {
    const bool name = std::ranges::any_of(word, [](char letter) {
      return letter == '/' || std::isdigit(static_cast<unsigned char>(letter)) != 0;
    });
    kind += name && kind.size() > 5 ? "*" : word;
    word.clear();
  };
  for (const char letter : complaint) {
    if (letter == ' ') {
      finish();
      kind += ' ';
    } else {
      word += letter;
    }
  }
  finish();
  return kind;
}

std::string crash_of(const Ending& ending) {
  const std::size_t at = ending.output.find("CHECK(");
  if (at != std::string::npos) {
    return ending.output.substr(at, ending.output.find('\n', at) - at);
  }
  return ending.signal == SIGALRM ? "hangs" : fmt::format("signal {}", ending.signal);
}

/// The first complaint about a world, judged in a child; nothing: none.
std::optional<std::string> failure_of(const std::vector<Change>& objects, const SoakCase& item) {
  const Ending ending = in_child([&] {
    alarm(hang_s);
    const MixedVerdict verdict =
        judge_world(objects, item.configuration(), item.seed, AskedAlone::each);
    if (!verdict.complaints.empty()) std::puts(verdict.complaints.front().c_str());
  });
  if (ending.signal != 0) return crash_of(ending);
  if (ending.output.empty()) return std::nullopt;
  return ending.output.substr(0, ending.output.find('\n'));
}

// ---- The run ------------------------------------------------------------------------------------

class Soak {
 public:
  Soak(std::uint64_t first, std::uint64_t count, bool knobs)
      : first_(first), count_(count), knobs_(knobs) {}

  void run() {
    Progress& progress = *shared_progress();
    std::uint64_t next = first_;
    const std::uint64_t end = first_ + count_;
    while (next < end) {
      const std::uint64_t chunk_end = std::min(end, next + chunk_max);
      const Ending ending = in_child([&] { judge(next, chunk_end, progress); });
      read_complaints(ending);
      next = chunk_end;
      if (ending.signal == 0) continue;
      note(progress.seed, crash_of(ending));
      next = progress.seed + 1;
    }
    judged_ = progress.judged;
    refused_ = progress.refused;
  }

  void report() const {
    for (const auto& [kind, seeds] : seeds_) {
      fmt::print("{} x {}\n  e.g. {}\n  seeds", seeds.size(), kind, examples_.at(kind));
      for (std::size_t at = 0; at < std::min<std::size_t>(seeds.size(), 12); ++at) {
        fmt::print(" {}", seeds[at]);
      }
      fmt::print("\n");
    }
    fmt::print("mixed worlds: {} judged (seeds {} to {}), {} refused as bad input, {} failed\n",
               count_, first_, first_ + count_ - 1, refused_, failed());
  }

  std::uint64_t failed() const {
    std::uint64_t count = 0;
    for (const auto& [kind, seeds] : seeds_) count += seeds.size();
    return count;
  }

  /// The first world of each kind of failure, made small.
  void keep(const std::string& folder) const {
    for (const auto& [kind, seeds] : seeds_) {
      const std::uint64_t seed = seeds.front();
      const SoakCase item = world_of(seed, knobs_);
      const std::optional<std::string> failure = failure_of(item.objects, item);
      if (!failure) continue;
      const std::string wanted = kind_of(*failure);
      const std::vector<Change> small = shrink(item.objects, [&](const std::vector<Change>& fewer) {
        const std::optional<std::string> still = failure_of(fewer, item);
        return still && kind_of(*still) == wanted;
      });
      const std::string path = fmt::format("{}/seed-{}.yaml", folder, seed);
      std::ofstream(path) << fmt::format("# {}\n# makeway plan --now {} --preset {} THIS\n",
                                         *failure_of(small, item), to_text(planning_now),
                                         item.settings())
                          << dump(cluster_of(small), DumpFormat::yaml);
      fmt::print("kept {}: {} of {} objects\n", path, small.size(), item.objects.size());
      std::fflush(stdout);
    }
  }

 private:
  void judge(std::uint64_t next, std::uint64_t end, Progress& progress) const {
    for (std::uint64_t seed = next; seed < end; ++seed) {
      progress.seed = seed;
      ++progress.judged;
      alarm(hang_s);
      const SoakCase item = world_of(seed, knobs_);
      const MixedVerdict verdict =
          judge_world(item.objects, item.configuration(), item.seed, AskedAlone::each);
      if (verdict.refused) ++progress.refused;
      if (!verdict.complaints.empty()) {
        fmt::print("complaint {} [{}, {}] {}\n", seed, item.settings(), world_text(item.options),
                   verdict.complaints.front());
        std::fflush(stdout);  // Before the next one crashes.
      }
    }
  }

  void read_complaints(const Ending& ending) {
    constexpr std::string_view mark = "complaint ";
    std::size_t at = 0;
    while (at < ending.output.size()) {
      const std::size_t line_end = std::min(ending.output.find('\n', at), ending.output.size());
      const std::string_view line(ending.output.data() + at, line_end - at);
      at = line_end + 1;
      if (!line.starts_with(mark)) continue;
      std::uint64_t seed = 0;
      std::from_chars(line.data() + mark.size(), line.data() + line.size(), seed);
      note(seed, std::string(line.substr(line.find("] ") + 2)));
    }
  }

  void note(std::uint64_t seed, const std::string& failure) {
    const std::string kind = kind_of(failure);
    seeds_[kind].push_back(seed);
    examples_.try_emplace(kind, fmt::format("{} ({})", failure, world_of(seed, knobs_).settings()));
  }

  std::uint64_t first_;
  std::uint64_t count_;
  bool knobs_;
  std::uint64_t judged_ = 0;
  std::uint64_t refused_ = 0;
  std::map<std::string, std::vector<std::uint64_t>> seeds_;  ///< By kind of failure.
  std::map<std::string, std::string> examples_;
};

std::optional<std::uint64_t> number(std::string_view text) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

/// One line a world; a dump has no line ends but between its tokens.
void write_worlds(std::uint64_t first, std::uint64_t count, const std::string& folder) {
  std::map<std::string, std::ofstream> files;
  for (std::uint64_t seed = first; seed < first + count; ++seed) {
    const SoakCase item = world_of(seed, false);
    auto [file, is_new] = files.try_emplace(item.preset);
    if (is_new) file->second.open(fmt::format("{}/{}.jsonl", folder, item.preset));
    std::string snapshot = dump(cluster_of(item.objects), DumpFormat::json);
    std::erase(snapshot, '\n');
    file->second << fmt::format(R"({{"id":"seed-{}","now":"{}","snapshot":{}}})", seed,
                                to_text(planning_now), snapshot)
                 << '\n';
  }
}

int run_soak(std::span<char*> arguments) {
  std::vector<std::string> words(arguments.begin() + 1, arguments.end());
  const bool knobs = std::erase(words, "--knobs") > 0;
  std::string folder;
  const bool writes = words.size() == 4 && words[2] == "--write";
  if (writes || (words.size() == 4 && words[2] == "--keep")) folder = words[3];
  const bool shaped = words.size() == 2 || !folder.empty();
  const std::optional<std::uint64_t> first = shaped ? number(words[0]) : std::nullopt;
  const std::optional<std::uint64_t> count = shaped ? number(words[1]) : std::nullopt;
  if (!first || !count || *count == 0) {
    fmt::print(stderr,
               "usage: mixed_soak FIRST_SEED COUNT [--keep FOLDER] [--knobs]\n"
               "       mixed_soak FIRST_SEED COUNT --write FOLDER\n");
    return 2;
  }
  if (writes) {
    write_worlds(*first, *count, folder);
    return 0;
  }
  Soak soak(*first, *count, knobs);
  soak.run();
  soak.report();
  if (!folder.empty()) soak.keep(folder);
  return soak.failed() == 0 ? 0 : 1;
}

}  // namespace
}  // namespace makeway

int main(int count, char** arguments) {
  return makeway::run_soak({arguments, static_cast<std::size_t>(count)});
}
