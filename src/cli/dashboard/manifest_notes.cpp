#include "cli/dashboard/manifest_notes.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/printable.hpp"
#include "codec/json_text.hpp"
#include "codec/workloads/workload_names.hpp"
#include "codec/yaml.hpp"

namespace makeway::cli {
namespace {

constexpr std::size_t notes_max = 10;
constexpr int list_depth_max = 3;

/// "apps/v1 Thing"
std::string_view why_left_out(std::string_view type) {
  const std::size_t blank = type.rfind(' ');
  return is_unsupported_workload(type.substr(0, blank), type.substr(blank + 1))
             ? "this kind is not supported yet; give Pods made from its template"
             : "this kind asks for no room here and is left out";
}

/// Goes through documents and the items of lists for those that were skipped.
class UnreadDocuments {
 public:
  explicit UnreadDocuments(const LoadStatistics& statistics) : statistics_(statistics) {}

  void look_at(const JsonValue& document, const std::string& place, int depth = 0) {
    const std::string kind = text_in(document, "kind");
    const std::string type =
        fmt::format("{} {}", shorten(text_in(document, "apiVersion")), shorten(kind));
    if (statistics_.skipped.contains(type)) add(document, place, type);
    if (!kind.ends_with("List") || depth >= list_depth_max) return;
    for (const JsonValue& item : items_in(document, "items")) look_at(item, place, depth + 1);
  }

  const std::vector<std::string>& notes() const { return notes_; }
  std::size_t count() const { return count_; }

 private:
  void add(const JsonValue& document, const std::string& place, const std::string& type) {
    ++count_;
    if (notes_.size() >= notes_max) return;
    const JsonValue* const metadata = document.find("metadata");
    const std::string space = metadata == nullptr ? "" : text_in(*metadata, "namespace");
    const std::string name = metadata == nullptr ? "" : text_in(*metadata, "name");
    std::string object = type;
    if (!name.empty()) object += " " + shorten(space.empty() ? name : space + "/" + name, 120);
    notes_.push_back(fmt::format("{}: {}: {}", place, object, why_left_out(type)));
  }

  const LoadStatistics& statistics_;
  std::vector<std::string> notes_;
  std::size_t count_ = 0;
};

}  // namespace

std::vector<std::string> unread_notes(std::string_view text, const Loaded& loaded) {
  if (loaded.statistics.skipped.empty()) return {};
  UnreadDocuments unread(loaded.statistics);
  if (detect_format(text) == TextFormat::json) {
    if (const auto tree = parse_json_value(text)) unread.look_at(*tree, "the manifest");
  } else {
    yaml_documents(text, "the manifest", {}, [&](const YamlDocument& document) {
      const auto tree = parse_json_value(document.json);
      if (!tree) return;
      unread.look_at(*tree, fmt::format("the manifest, document {} (line {})", document.number,
                                        document.line));
    });
  }
  std::vector<std::string> notes = unread.notes();
  if (unread.count() > notes.size()) {
    notes.push_back(fmt::format("... {} more like these", unread.count() - notes.size()));
  }
  if (!notes.empty()) return notes;
  // Several documents of JSON one after the other: which of them it was is not known here.
  for (const auto& [type, count] : loaded.statistics.skipped) {
    notes.push_back(
        fmt::format("the manifest: {} ({}): {}", printable(type), count, why_left_out(type)));
  }
  return notes;
}

std::string no_asks_text(std::string_view text, const Loaded& loaded) {
  std::string answer = "nothing in the manifest asks for room\n";
  for (const std::string& note : unread_notes(text, loaded)) answer += note + "\n";
  for (const WorkloadPods& workload : loaded.workloads) {
    if (workload.held.empty() || workload.made > 0) continue;
    answer += fmt::format("{}: no pods are made of it: {}\n", shorten(workload.object(), 120),
                          printable(workload.held));
  }
  return answer + fmt::format(
                      "Give something that asks and is not in the cluster yet: Pod, Session, "
                      "ReplicaSchedule, or what makes pods: {}.",
                      fmt::join(pod_making_kinds(), ", "));
}

}  // namespace makeway::cli
