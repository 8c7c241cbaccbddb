#include "tidy/layering.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>
#include <string>

namespace makeway::tidy {
namespace {

struct Layer {
  std::string_view name;
  std::vector<std::string_view> may_include;  ///< Besides itself.
};

const std::vector<Layer>& layer_table() {
  static const std::vector<Layer> table = {
      {"base", {}},
      {"model", {"base"}},
      {"codec", {"model", "base"}},
      {"judge", {"model", "base"}},
      {"engine", {"model", "base"}},
      {"policies", {"engine", "model", "base"}},
      {"control", {"judge", "model", "base"}},
      {"journal", {"control", "codec", "judge", "model", "base"}},
      {"sim", {"control", "codec", "model", "base"}},
      {"kube", {"control", "codec", "model", "base"}},
      {"server", {"control", "codec", "model", "base"}},
      {"page", {"base"}},
      {"cli",
       {"journal", "sim", "kube", "server", "page", "policies", "control", "codec", "judge",
        "engine", "model", "base"}},
  };
  return table;
}

/// Folders of tests/ that a test may include from.
constexpr std::array test_folders = {std::string_view("support"),    std::string_view("properties"),
                                     std::string_view("scenarios"),  std::string_view("tidy"),
                                     std::string_view("peer_cases"), std::string_view("replay"),
                                     std::string_view("bench")};

struct Library {
  std::string_view header_prefix;
  std::vector<std::string_view> layers;  ///< Layers with .cpp files that may include it.
  std::string_view instead;
};

const std::vector<Library>& library_table() {
  static const std::vector<Library> table = {
      {"simdjson.h", {"codec"}, "codec's readers"},
      {"yaml.h", {"codec"}, "codec's readers"},
      {"zlib.h", {"codec"}, "codec's sources"},
      {"CLI/", {"cli"}, "arguments that cli has parsed"},
      {"boost/", {"server"}, "server/request_parser.hpp"},
      {"openssl/", {"codec", "page", "server"}, "server/connection.hpp"},
      {"prometheus/", {"server"}, "server/run_metrics.hpp"},
      {"curl/", {"kube"}, "kube's facade"},
      {"regex", {}, "a loop over the text"},
      {"iostream", {"cli"}, "a returned value; the edges print"},
      {"nlohmann/", {}, "codec's writers and readers"},
      {"gtest/", {}, "a _test.cpp file"},
      {"benchmark/", {}, "a file in bench/"},
      {"malloc.h", {}, "a file in bench/"},
      // POSIX: the edges talk to the operating system, the core does not.
      {"unistd.h", {"codec", "control", "journal", "sim", "kube", "server", "cli"}, "a facade"},
      {"fcntl.h", {"codec", "control", "journal", "kube", "server", "cli"}, "a facade"},
      {"sys/mman.h", {"base", "codec"}, "base/plain_vector.hpp"},
      {"sys/", {"codec", "control", "journal", "sim", "kube", "server", "cli"}, "a facade"},
      {"signal.h", {"kube", "server", "cli"}, "a facade"},
      {"poll.h", {"kube", "server", "cli"}, "a facade"},
      {"termios.h", {"cli"}, "cli/tty_screen.hpp"},
      {"spawn.h", {"kube"}, "kube/exec_plugin.hpp"},
      {"netinet/", {"kube", "server"}, "a facade"},
      {"netdb.h", {"server"}, "a facade"},
      {"pthread.h", {"server"}, "server/thread_name.hpp"},
  };
  return table;
}

struct Include {
  std::string_view name;
  bool quoted = false;
};

std::optional<Include> include_in(std::string_view line) {
  const std::size_t hash = line.find_first_not_of(" \t");
  if (hash == std::string_view::npos || line[hash] != '#') return std::nullopt;
  line.remove_prefix(hash + 1);
  line.remove_prefix(std::min(line.find_first_not_of(" \t"), line.size()));
  if (!line.starts_with("include")) return std::nullopt;
  const std::size_t open = line.find_first_of("<\"");
  if (open == std::string_view::npos) return std::nullopt;
  const bool quoted = line[open] == '"';
  const std::size_t close = line.find(quoted ? '"' : '>', open + 1);
  if (close == std::string_view::npos) return std::nullopt;
  return Include{.name = line.substr(open + 1, close - open - 1), .quoted = quoted};
}

bool contains(const auto& items, std::string_view item) {
  return std::ranges::find(items, item) != items.end();
}

constexpr std::string_view policies_folder = "policies/";
constexpr std::string_view policy_interface = "policies/policy.hpp";

/// "session" of "policies/session/a.hpp"; empty: the header or file is in no folder of policies.
std::string_view policy_of(std::string_view name) {
  if (!name.starts_with(policies_folder)) return {};
  name.remove_prefix(policies_folder.size());
  return name.contains('/') ? name.substr(0, name.find('/')) : std::string_view();
}

/// Policies meet in the World and nowhere else: one includes itself, what all share, and what every
/// policy is. What they share knows none of them.
std::string refuse_policy(std::string_view path, std::string_view name) {
  if (!path.starts_with("src/") || is_companion(path)) return {};
  const std::string_view own = policy_of(path.substr(4));
  if (own.empty() || !name.starts_with(policies_folder)) return {};
  const std::string_view target = policy_of(name);
  if (target == own || target == "shared") return {};
  if (own != "shared" && name == policy_interface) return {};
  return fmt::format("policies/{}/ must not include {}: policies meet in the World", own, name);
}

/// Nothing, or what is wrong with including one of our headers.
std::string refuse_ours(const SourceFile& file, std::string_view name) {
  const std::string_view target = name.substr(0, name.find('/'));
  const std::string_view own = layer_of(file.path);
  const bool target_is_layer = contains(layers(), target) && name.contains('/');
  if (own.empty() || is_companion(file.path)) {
    if (contains(test_folders, target) && name.contains('/')) return {};
  }
  if (!target_is_layer) return fmt::format("include \"{}\" by its path from src/", name);
  if (own == target) return refuse_policy(file.path, name);
  if (own.empty()) return {};
  const auto layer = std::ranges::find(layer_table(), own, &Layer::name);
  if (layer == layer_table().end()) return fmt::format("{}/ is not in the table of layers", own);
  if (contains(layer->may_include, target)) return {};
  return fmt::format("{}/ must not include {}/: pass a value, or move the code", own, target);
}

bool is_standard(std::string_view name) { return !name.contains('/') && !name.contains('.'); }

auto find_library(std::string_view name) {
  return std::ranges::find_if(library_table(), [&](const Library& candidate) {
    return candidate.header_prefix == name ||
           (candidate.header_prefix.ends_with('/') && name.starts_with(candidate.header_prefix));
  });
}

std::string refuse_library(const SourceFile& file, std::string_view name) {
  const auto library = find_library(name);
  const std::string_view own = layer_of(file.path);
  if (library == library_table().end()) {
    if (is_standard(name) || name.starts_with("fmt/")) return {};
    return fmt::format("<{}> is not in the table of libraries (tests/tidy/layering.cpp)", name);
  }
  if (name == "regex") return fmt::format("<regex> is never used; {}", library->instead);
  if (own.empty() || is_companion(file.path)) return {};
  if (!contains(library->layers, own)) {
    return fmt::format("{}/ must not include <{}>; use {}", own, name, library->instead);
  }
  if (!file.path.ends_with(".cpp")) {
    return fmt::format("<{}> only in a .cpp file; headers stay quick to compile", name);
  }
  return {};
}

}  // namespace

std::vector<std::string_view> layers() {
  std::vector<std::string_view> names;
  for (const Layer& layer : layer_table()) names.push_back(layer.name);
  return names;
}

Findings check_includes(const SourceFile& file) {
  Findings findings;
  if (!is_cpp(file.path)) return findings;
  const std::string text = without_comments(file.text);
  std::size_t number = 0;
  for (const std::string_view line : lines_of(text)) {
    ++number;
    const std::optional<Include> include = include_in(line);
    if (!include) continue;
    std::string refusal =
        include->quoted ? refuse_ours(file, include->name) : refuse_library(file, include->name);
    if (refusal.empty()) continue;
    findings.push_back({.path = file.path, .line = number, .message = std::move(refusal)});
  }
  return findings;
}

Findings check_reach(const Tree& tree) {
  // For every file, the headers of ours it sees, directly or not; and those that see a library.
  std::map<std::string, std::set<std::string>> sees;
  std::set<std::string> heavy;
  for (const SourceFile& file : tree) {
    if (layer_of(file.path).empty() || !is_cpp(file.path) || is_companion(file.path)) continue;
    std::set<std::string>& seen = sees[file.path];
    const std::string text = without_comments(file.text);
    for (const std::string_view line : lines_of(text)) {
      const std::optional<Include> include = include_in(line);
      if (!include) continue;
      if (include->quoted) seen.insert(fmt::format("src/{}", include->name));
      if (!include->quoted && file.path.ends_with(".hpp") &&
          find_library(include->name) != library_table().end()) {
        heavy.insert(file.path);
      }
    }
  }
  for (bool grown = true; grown;) {
    grown = false;
    for (auto& [path, seen] : sees) {
      std::set<std::string> more = seen;
      for (const std::string& header : seen) more.insert(sees[header].begin(), sees[header].end());
      if (more.size() == seen.size()) continue;
      seen = std::move(more);
      grown = true;
    }
  }
  Findings findings;
  for (const auto& [path, seen] : sees) {
    for (const std::string& header : seen) {
      if (!heavy.contains(header) || layer_of(header) == layer_of(path)) continue;
      findings.push_back(
          {.path = path,
           .line = 0,
           .message = fmt::format("sees {}, which is private to {}/", header, layer_of(header))});
    }
  }
  return findings;
}

}  // namespace makeway::tidy
