#include "bench/support/plan_options.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>
#include <map>
#include <string_view>

#include "bench/support/measure.hpp"
#include "codec/dump.hpp"
#include "codec/writer.hpp"

namespace makeway::bench {
namespace {

/// False: some argument is not known, or has no value.
bool read_arguments(std::span<char*> arguments, PlanOptions& options) {
  std::string repeat;
  const std::map<std::string_view, bool*> flags = {{"--all", &options.all},
                                                   {"--once", &options.once}};
  const std::map<std::string_view, std::string*> values = {{"--repeat", &repeat},
                                                           {"--only", &options.only},
                                                           {"--case", &options.exactly},
                                                           {"--json", &options.json},
                                                           {"--write", &options.write}};
  for (std::size_t at = 1; at < arguments.size(); ++at) {
    const std::string_view name = arguments[at];
    if (const auto flag = flags.find(name); flag != flags.end()) {
      *flag->second = true;
      continue;
    }
    const auto value = values.find(name);
    if (value == values.end() || at + 1 == arguments.size()) return false;
    *value->second = arguments[++at];
  }
  options.repeat = std::strtoull(repeat.c_str(), nullptr, 10);
  return true;
}

}  // namespace

std::optional<PlanOptions> parsed(std::span<char*> arguments) {
  PlanOptions options;
  if (read_arguments(arguments, options)) return options;
  fmt::print(stderr,
             "usage: {} [--only SUBSTRING] [--case NAME] [--repeat N] [--all] [--json FILE] "
             "[--write DIR] [--once]\n",
             arguments.front());
  return std::nullopt;
}

bool names_cases(const PlanOptions& options) {
  return !options.only.empty() || !options.exactly.empty();
}

bool matches(const PlanOptions& options, const ClusterCase& item) {
  const std::string name = case_name(item);
  if (!options.exactly.empty() && name != options.exactly) return false;
  return name.contains(options.only);
}

bool write_case(const PlanOptions& options, const ClusterCase& item) {
  std::string text;
  JsonWriter writer(text, JsonStyle::compact);
  write_cluster(writer, make_cluster(item));
  const std::string path = fmt::format("{}/{}.json", options.write, case_name(item));
  fmt::print("{}: {:.1f} MB\n", path, static_cast<double>(text.size()) / 1e6);
  return write_file(path, text);
}

}  // namespace makeway::bench
