#include "cli/plan/bug_report.hpp"

#include <fmt/format.h>

#include <set>
#include <utility>
#include <vector>

#include "cli/version_command.hpp"
#include "codec/dump.hpp"
#include "codec/plan_codec.hpp"
#include "codec/writer.hpp"

namespace makeway::cli {
namespace {

constexpr std::size_t fault_shown_max = 1'000;

std::string case_id(const LawfulPlan& made) {
  if (!made.refused.empty()) return made.refused.front().id;
  return made.plan ? made.plan->id : std::string();
}

/// What is reported, each ask and law once.
struct Fault {
  int law = 0;  ///< 0: a CHECK.
  std::string ask;
  std::string text;
};

std::vector<Fault> faults_of(const LawfulPlan& made) {
  std::vector<Fault> faults;
  std::set<std::pair<int, std::string>> known;
  const auto add = [&](int law, const std::string& ask, const std::string& text) {
    if (known.emplace(law, ask).second) faults.push_back({.law = law, .ask = ask, .text = text});
  };
  for (const RefusedPlan& refused : made.refused) {
    for (const LawBreach& breach : refused.breaches) add(breach.law, breach.ask, breach.text);
  }
  if (!made.plan) return faults;
  for (const PlanLeftOut& left : made.plan->left_out) {
    if (left.law != 0) continue;
    const AskName name{.kind = left.kind, .namespace_name = left.namespace_name, .name = left.name};
    add(0, ask_text(name), left.reason);
  }
  if (faults.empty()) add(0, "", made.plan->withheld);
  return faults;
}

void write_request(DocumentWriter& writer, const PlanRequest& request) {
  if (request.asks.size() == 1) {
    const AskName& ask = request.asks.front();
    writer.string_field("ask", fmt::format("{}/{}", ask.namespace_name, ask.name));
    writer.string_field("askKind", choice_name(ask.kind));
  } else if (!request.asks.empty()) {
    std::vector<std::string> names;
    names.reserve(request.asks.size());
    for (const AskName& ask : request.asks) {
      names.push_back(fmt::format("{}/{}/{}", choice_name(ask.kind), ask.namespace_name, ask.name));
    }
    writer.strings_field("asks", names);
  }
  writer.string_field("now", to_text(request.now));
  if (request.placements.empty()) return;
  write_list(writer, "placements", request.placements, write_placement);
}

void write_faults(DocumentWriter& writer, const std::vector<Fault>& faults) {
  writer.key("breaches");
  writer.begin_array();
  for (const Fault& fault : faults) {
    writer.begin_object();
    if (fault.law > 0) writer.integer_field("law", fault.law);
    if (fault.law == 0) writer.boolean_field("check", true);
    writer.string_field("ask", fault.ask);
    writer.string_field("text", fault.text);
    writer.end_object();
  }
  writer.end_array();
}

std::string_view what_follows(const LawfulPlan& made) {
  if (!made.plan) return "its plan breaks a law, so it is not shown";
  if (!made.plan->withheld.empty()) return "no plan keeps the laws, so it is empty";
  return "the asks it concerns are left out of the plan, which lists them";
}

}  // namespace

std::string reproducer_text(const BugCase& bug) {
  std::string text;
  JsonWriter writer(text, JsonStyle::compact);
  writer.begin_object();
  writer.string_field("id", case_id(bug.made));
  write_request(writer, bug.request);
  writer.string_field("version", version_line());
  write_faults(writer, faults_of(bug.made));
  writer.key("configuration");
  // The marks that did not count are off the objects already.
  ConfigurationDocument configuration = bug.configuration;
  configuration.configuration.trust = {};
  write_configuration(writer, configuration);
  writer.key("snapshot");
  write_cluster(writer, bug.cluster);
  writer.end_object();
  return text;
}

std::string report_bug(const BugCase& bug, BugFiles& files) {
  if (files.is_full()) return {};
  const BugFiles::Kept kept = files.keep(case_id(bug.made), reproducer_text(bug));
  std::string text =
      fmt::format("makeway: a bug in Makeway, not in your input: {}\n", what_follows(bug.made));
  for (const Fault& fault : faults_of(bug.made)) {
    const std::string rule = fault.law > 0 ? fmt::format("law {}", fault.law) : "check";
    text += fmt::format("  {}: {}{}{}\n", rule, shorten(fault.ask, fault_shown_max),
                        fault.ask.empty() ? "" : ": ", shorten(fault.text, fault_shown_max));
  }
  if (kept.name.empty()) {
    return text + fmt::format(
                      "The case could not be kept ({}); run it again where files can be written, "
                      "and add it with that file.\n",
                      kept.failure);
  }
  text += fmt::format(
      "The case is in {}: please add it with that file. It holds what scheduling reads of your "
      "cluster, names and labels included.\n'makeway plan --batch {}' shows it again.\n",
      kept.name, kept.name);
  if (files.is_full()) {
    text += fmt::format("makeway: {} cases are kept; what follows is only counted\n",
                        BugFiles::files_max);
  }
  return text;
}

}  // namespace makeway::cli
