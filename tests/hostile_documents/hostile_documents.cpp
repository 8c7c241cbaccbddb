// hostile_documents FIRST_SEED COUNT [--keep FOLDER]: sends hostile documents
// (support/hostile_document.hpp) through `makeway plan`, `check` and `snapshot`, each command in a
// process of its own, and says of each run what must not be:
//  - a signal, or a status that is not documented; the status of a bug of ours;
//  - anything raw on the terminal;
//  - more memory than 20 times the input and 100 MB;
//  - more than a minute of the processor.
// MAKEWAY_BINARY says which makeway.
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <span>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/check.hpp"
#include "base/prng.hpp"
#include "cli/terminal.hpp"
#include "codec/presets.hpp"
#include "support/hostile_document.hpp"
#include "support/screen_text.hpp"

namespace makeway {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t input_times_max = 20;
constexpr std::uint64_t megabyte = 1'000'000;
constexpr std::uint64_t memory_beside_max = 100 * megabyte;
constexpr rlim_t processor_s_max = 60;
constexpr std::size_t seeds_shown_max = 12;

/// Sanitizers need memory of their own.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool memory_is_judged = false;
#else
constexpr bool memory_is_judged = true;
#endif

struct Ran {
  int signal = 0;
  int status = 0;
  std::uint64_t memory = 0;  ///< Bytes, at the peak.
  std::string out;
  std::string error;
};

std::string content_of(const fs::path& path) {
  std::ostringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return std::move(text).str();
}

void redirect(const fs::path& path, int to) {
  const int file = open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  if (file < 0 || dup2(file, to) < 0) _exit(127);
}

// ---- Processes ----------------------------------------------------------------------------------

int ended(pid_t child, rusage& usage) {
  int status = 0;
  CHECK(wait4(child, &status, 0, &usage) == child, "the child that was started");
  return status;
}

/// In a process of its own, since what a process used before it became another program counts as
/// that program's memory.
bool write_document(std::uint64_t seed, const fs::path& folder) {
  std::fflush(stdout);
  const pid_t child = fork();
  CHECK(child >= 0, "a child process");
  if (child == 0) {
    const HostileDocument document = hostile_document(seed);
    std::ofstream(folder / ("document." + document.extension), std::ios::binary) << document.text;
    std::ofstream(folder / "edits") << fmt::format("{}", fmt::join(document.edits, ", "));
    _exit(0);
  }
  rusage usage{};
  return ended(child, usage) == 0;
}

Ran run_makeway(const std::string& binary, const std::vector<std::string>& words,
                const fs::path& folder) {
  std::fflush(stdout);
  const pid_t child = fork();
  CHECK(child >= 0, "a child process");
  if (child == 0) {
    if (chdir(folder.c_str()) != 0) _exit(127);
    redirect("out", STDOUT_FILENO);
    redirect("error", STDERR_FILENO);
    const rlimit limit{.rlim_cur = processor_s_max, .rlim_max = processor_s_max};
    setrlimit(RLIMIT_CPU, &limit);
    std::vector<std::string> line = {binary};
    line.insert(line.end(), words.begin(), words.end());
    std::vector<char*> pointers;
    pointers.reserve(line.size() + 1);
    for (std::string& word : line) pointers.push_back(word.data());
    pointers.push_back(nullptr);
    execv(binary.c_str(), pointers.data());
    _exit(127);
  }
  rusage usage{};
  const int status = ended(child, usage);
  return {.signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0,
          .status = WIFEXITED(status) ? WEXITSTATUS(status) : 0,
          .memory = static_cast<std::uint64_t>(usage.ru_maxrss) * 1'024,
          .out = content_of(folder / "out"),
          .error = content_of(folder / "error")};
}

// ---- What is run --------------------------------------------------------------------------------

/// Every command, with and without --keep-going and --trust live; how a plan is printed, and by
/// which preset it is made, is drawn.
std::vector<std::vector<std::string>> command_lines(const std::string& file, Prng& random) {
  const auto plan = [&](std::vector<std::string> words) {
    if (random.chance(30)) {
      words.insert(words.end(), {"-o", random.pick<std::string>({"json", "yaml"})});
    }
    if (random.chance(30)) {
      std::vector<std::string> presets;
      for (const std::string_view name : preset_names()) presets.emplace_back(name);
      words.insert(words.end(), {"--preset", random.pick(presets)});
    }
    if (random.chance(50)) words.emplace_back("--explain");
    if (random.chance(20)) words.emplace_back("--detailed-exitcode");
    words.insert(words.begin(), {"plan", "-f", file});
    return words;
  };
  return {plan({}),
          plan({"--keep-going"}),
          plan({"--trust", "live"}),
          plan({"--keep-going", "--trust", "live"}),
          {"check", "-f", file},
          {"check", "-f", file, "--keep-going", "--trust", "live"},
          {"snapshot", "-f", file},
          {"snapshot", "-f", file, "--keep-going", "--all"}};
}

bool may_end_with(const std::vector<std::string>& words, int status) {
  using cli::ExitStatus;
  const auto is = [&](ExitStatus one) { return status == static_cast<int>(one); };
  const bool detailed = std::ranges::find(words, "--detailed-exitcode") != words.end();
  return is(ExitStatus::done) || is(ExitStatus::failed) ||
         (detailed && (is(ExitStatus::victims_needed) || is(ExitStatus::infeasible)));
}

/// Empty: all is well.
std::string complaint_about_run(const std::vector<std::string>& words, const Ran& ran,
                                std::uint64_t input) {
  if (ran.signal != 0) return fmt::format("signal {}", ran.signal);
  for (const std::string_view sanitizer : {"runtime error:", "Sanitizer"}) {
    if (ran.error.contains(sanitizer)) return "a sanitizer complains";
  }
  if (!may_end_with(words, ran.status)) return fmt::format("exit status {}", ran.status);
  for (const std::string* const printed : {&ran.out, &ran.error}) {
    const std::string raw = screen_complaint(*printed);
    if (!raw.empty()) return fmt::format("raw on the terminal: {}", raw);
  }
  if (memory_is_judged && ran.memory > input_times_max * input + memory_beside_max) {
    return "too much memory";
  }
  return {};
}

// ---- The run ------------------------------------------------------------------------------------

class HostileDocuments {
 public:
  HostileDocuments(std::string binary, std::string keep)
      : binary_(std::move(binary)),
        keep_(std::move(keep)),
        folder_(fs::temp_directory_path() / fmt::format("makeway-hostile-{}", getpid())) {
    fs::create_directories(folder_);
  }
  HostileDocuments(const HostileDocuments&) = delete;
  HostileDocuments& operator=(const HostileDocuments&) = delete;
  ~HostileDocuments() {
    std::error_code ignored;
    fs::remove_all(folder_, ignored);
  }

  void send(std::uint64_t seed) {
    for (const std::string_view extension : {"json", "yaml"}) {
      fs::remove(folder_ / fmt::format("document.{}", extension));
    }
    if (!write_document(seed, folder_)) return note("the generator fails", seed, {}, {});
    const std::string file =
        fs::exists(folder_ / "document.json") ? "document.json" : "document.yaml";
    const std::uint64_t input = fs::file_size(folder_ / file);
    ++documents_;
    bytes_ += input;
    largest_ = std::max(largest_, input);
    Prng random(seed);
    for (const std::vector<std::string>& words : command_lines(file, random)) {
      const Ran ran = run_makeway(binary_, words, folder_);
      ++runs_;
      const bool on = std::ranges::find(words, "--keep-going") != words.end();
      ++statuses_[{words.front() + (on ? " --keep-going" : ""), ran.status}];
      memory_ = std::max(memory_, ran.memory);
      if (ran.memory > memory_beside_max) ++above_;
      const std::string complaint = complaint_about_run(words, ran, input);
      if (!complaint.empty()) note(complaint, seed, words, ran.error);
    }
  }

  void report(std::uint64_t first, std::uint64_t count) const {
    for (const auto& [complaint, seeds] : seeds_) {
      fmt::print("{} x {}\n  e.g. {}\n  seeds {}\n", seeds.size(), complaint,
                 examples_.at(complaint),
                 fmt::join(std::span(seeds).first(std::min(seeds.size(), seeds_shown_max)), " "));
    }
    for (const auto& [key, runs] : statuses_) {
      fmt::print("  {:>7} x {} exits with {}\n", runs, key.first, key.second);
    }
    fmt::print("inputs: {} bytes, the largest {}; memory: at most {} MB, above {} MB in {} runs\n",
               bytes_, largest_, memory_ / megabyte, memory_beside_max / megabyte, above_);
    fmt::print("{}hostile documents: {} (seeds {} to {}), {} runs, {} failed\n",
               failed() == 0 ? "[  PASSED  ] " : "", documents_, first, first + count - 1, runs_,
               failed());
  }

  std::uint64_t failed() const {
    std::uint64_t count = 0;
    for (const auto& [complaint, seeds] : seeds_) count += seeds.size();
    return count;
  }

  /// Enough of them are read, or the run shows nothing.
  bool shows_something() const {
    std::uint64_t planned = 0;
    for (const auto& [key, runs] : statuses_) {
      if (key.first.starts_with("plan --keep-going") && key.second != 1) planned += runs;
    }
    return planned * 2 > documents_;
  }

 private:
  void note(const std::string& complaint, std::uint64_t seed, const std::vector<std::string>& words,
            const std::string& error) {
    std::vector<std::uint64_t>& seeds = seeds_[complaint];
    const bool fresh = seeds.empty();
    seeds.push_back(seed);
    if (fresh) {
      constexpr std::size_t shown_max = 600;
      const std::size_t shown = error.size() - std::min(error.size(), shown_max);
      examples_[complaint] =
          fmt::format("makeway {} ({})\n{}", fmt::join(words, " "), content_of(folder_ / "edits"),
                      screen_complaint(error).empty() ? error.substr(shown) : std::string());
    }
    if (keep_.empty() || seeds.size() > seeds_shown_max) return;
    for (const std::string_view extension : {"json", "yaml"}) {
      const fs::path from = folder_ / fmt::format("document.{}", extension);
      const fs::path to = fs::path(keep_) / fmt::format("seed-{}.{}", seed, extension);
      if (fs::exists(from)) fs::copy_file(from, to, fs::copy_options::overwrite_existing);
    }
  }

  std::string binary_;
  std::string keep_;
  fs::path folder_;
  std::uint64_t documents_ = 0;
  std::uint64_t bytes_ = 0;
  std::uint64_t largest_ = 0;
  std::uint64_t runs_ = 0;
  std::uint64_t memory_ = 0;
  std::uint64_t above_ = 0;
  std::map<std::pair<std::string, int>, std::uint64_t> statuses_;  ///< By command and status.
  std::map<std::string, std::vector<std::uint64_t>> seeds_;        ///< By complaint.
  std::map<std::string, std::string> examples_;
};

std::optional<std::uint64_t> number_of(std::string_view text) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

int run_all(std::span<char*> arguments) {
  const std::vector<std::string> words(arguments.begin() + 1, arguments.end());
  const bool keeps = words.size() == 4 && words[2] == "--keep";
  const bool shaped = words.size() == 2 || keeps;
  const auto first = shaped ? number_of(words[0]) : std::nullopt;
  const auto count = shaped ? number_of(words[1]) : std::nullopt;
  const char* const binary = std::getenv("MAKEWAY_BINARY");
  if (!first || !count || *count == 0 || binary == nullptr) {
    fmt::print(stderr,
               "usage: MAKEWAY_BINARY=FILE hostile_documents FIRST_SEED COUNT [--keep FOLDER]\n");
    return 2;
  }
  HostileDocuments documents(fs::absolute(binary), keeps ? words[3] : std::string());
  for (std::uint64_t seed = *first; seed < *first + *count; ++seed) documents.send(seed);
  documents.report(*first, *count);
  if (!documents.shows_something()) {
    fmt::print("too few of the documents can be planned\n");
    return 1;
  }
  return documents.failed() == 0 ? 0 : 1;
}

}  // namespace
}  // namespace makeway

int main(int count, char** arguments) {
  return makeway::run_all({arguments, static_cast<std::size_t>(count)});
}
