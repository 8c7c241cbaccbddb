#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string>
#include <vector>

#include "cli/commands.hpp"
#include "cli/help.hpp"
#include "cli/text.hpp"
#include "codec/fields.hpp"
#include "codec/resource_definitions.hpp"
#include "codec/writer.hpp"
#include "model/knobs.hpp"

namespace makeway::cli {
namespace {

std::vector<std::string_view> asked_kinds(const std::vector<std::string>& words,
                                          std::string& unknown) {
  std::vector<std::string_view> all = own_kind_names();
  if (words.empty()) return all;
  std::vector<std::string_view> kinds;
  for (const std::string& word : words) {
    const auto found = std::ranges::find_if(
        all, [&](std::string_view kind) { return lower_case(kind) == lower_case(word); });
    if (found == all.end()) {
      unknown = word;
      return {};
    }
    if (std::ranges::find(kinds, *found) == kinds.end()) kinds.push_back(*found);
  }
  return kinds;
}

ExitStatus run_crds(const Arguments& arguments, Terminal& terminal) {
  std::string unknown;
  const std::vector<std::string_view> kinds = asked_kinds(arguments.operands(), unknown);
  if (kinds.empty()) {
    const std::vector<std::string_view> all = own_kind_names();
    const std::string_view nearest = nearest_of(all, unknown);
    const std::string remedy = nearest.empty() ? fmt::format("there are {}", fmt::join(all, ", "))
                                               : fmt::format("did you mean {}?", nearest);
    return usage_error("crds",
                       fmt::format("there is no kind '{}' of ours; {}", shorten(unknown), remedy),
                       terminal);
  }
  std::string text;
  YamlWriter writer(text);
  for (const std::string_view kind : kinds) write_definition(writer, kind);
  terminal.out.write(text);
  return ExitStatus::done;
}

}  // namespace

Command crds_entry() {
  const std::vector<std::string_view> kinds = own_kind_names();
  return {.name = "crds",
          .summary = "print the definitions of our own kinds for Kubernetes",
          .description =
              "Prints CustomResourceDefinitions of Queue, ReplicaSchedule, ResourceGroup, "
              "Partition, Session and Configuration (makeway.dev/v1), the same as in deploy/crds. "
              "The API server then refuses objects with wrong fields as makeway does. What only "
              "the cluster shows, such as a parent that is missing, `makeway check` finds.\n\n"
              "`makeway plan --live` and `run --shadow` read objects of these kinds where they are "
              "defined, and `makeway run` serves them.",
          .operands = {{.name = "KIND",
                        .help = "Only these kinds; without one all of them.",
                        .suggestions = {kinds.begin(), kinds.end()},
                        .repeats = true}},
          .examples = {{"makeway crds | kubectl apply -f -", "all kinds"},
                       {"makeway crds Queue", "one of them"}},
          .run = run_crds};
}

}  // namespace makeway::cli
