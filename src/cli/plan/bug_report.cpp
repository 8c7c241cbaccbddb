#include "cli/plan/bug_report.hpp"

#include <fmt/format.h>

#include <fstream>

#include "cli/version_command.hpp"
#include "codec/dump.hpp"
#include "codec/plan_codec.hpp"
#include "codec/writer.hpp"

namespace makeway::cli {
namespace {

void write_request(DocumentWriter& writer, const PlanRequest& request) {
  if (request.ask) {
    writer.string_field("ask",
                        fmt::format("{}/{}", request.ask->namespace_name, request.ask->name));
    writer.string_field("askKind", choice_name(request.ask->kind));
  }
  writer.string_field("now", to_text(request.now));
  if (request.placements.empty()) return;
  writer.key("placements");
  writer.begin_array();
  for (const PodPlacement& placement : request.placements) {
    write_placement(writer, placement);
  }
  writer.end_array();
}

void write_breaches(DocumentWriter& writer, std::span<const LawBreach> breaches) {
  writer.key("breaches");
  writer.begin_array();
  for (const LawBreach& breach : breaches) {
    writer.begin_object();
    writer.integer_field("law", breach.law);
    writer.string_field("ask", breach.ask);
    writer.string_field("text", breach.text);
    writer.end_object();
  }
  writer.end_array();
}

}  // namespace

std::string reproducer_text(const BugCase& bug) {
  std::string text;
  JsonWriter writer(text, JsonStyle::compact);
  writer.begin_object();
  writer.string_field("id", bug.plan_id);
  write_request(writer, bug.request);
  writer.string_field("version", version_line());
  write_breaches(writer, bug.breaches);
  writer.key("configuration");
  write_configuration(writer, bug.configuration);
  writer.key("snapshot");
  write_cluster(writer, bug.cluster);
  writer.end_object();
  return text;
}

std::string report_bug(const BugCase& bug) {
  const std::string name = fmt::format("makeway-bug-{}.json", bug.plan_id);
  std::ofstream file(name, std::ios::binary);
  file << reproducer_text(bug);
  file.close();
  std::string text =
      "makeway: a bug in Makeway, not in your input: its plan breaks a law, so it is not shown\n";
  for (const LawBreach& breach : bug.breaches) {
    text += fmt::format("  law {}: {}: {}\n", breach.law, printable(breach.ask),
                        printable(breach.text));
  }
  if (!file) {
    return text + fmt::format(
                      "The case could not be written to {}; run it again where files can "
                      "be written, and report it with that file.\n",
                      name);
  }
  return text + fmt::format(
                    "The case is in {}: please report it with that file. It holds what "
                    "scheduling reads of your cluster, names and labels included.\n"
                    "'makeway plan --batch {}' shows it again.\n",
                    name, name);
}

}  // namespace makeway::cli
