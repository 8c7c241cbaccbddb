#include "model/validation/topology.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <optional>
#include <vector>

#include "model/names.hpp"
#include "model/object_text.hpp"

namespace makeway {
namespace {

/// The values of one label, by position in nodes_by_name.
using Values = std::vector<std::optional<StringId>>;

/// "rack=r1 lies in block=a and block=b", in words.
struct Torn {
  std::string value;
  std::string first;
  std::string second;
};

class NodeLabels {
 public:
  explicit NodeLabels(const Cluster& cluster) : cluster_(cluster) {}

  bool carried(std::string_view key) {
    return std::ranges::any_of(values(key), [](const auto& value) { return value.has_value(); });
  }

  /// The first node, by name, whose narrow domain also lies in another wide one.
  const std::optional<Torn>& torn(const std::string& narrow, const std::string& wide) {
    const auto [at, is_new] = torn_.try_emplace({narrow, wide});
    if (is_new) at->second = find_torn(narrow, wide);
    return at->second;
  }

 private:
  const Values& values(std::string_view key) {
    const auto found = values_.find(key);
    if (found != values_.end()) return found->second;
    Values& values = values_.emplace(key, Values{}).first->second;
    const std::optional<StringId> id = cluster_.strings().find(key);
    for (const NodeIndex node : cluster_.nodes_by_name()) {
      const std::span<const LabelPair> labels = cluster_.labels(cluster_.nodes().labels[node]);
      const auto label = id ? std::ranges::find(labels, *id, &LabelPair::key) : labels.end();
      values.push_back(label == labels.end() ? std::nullopt : std::optional(label->value));
    }
    return values;
  }

  std::optional<Torn> find_torn(std::string_view narrow, std::string_view wide) {
    const Values& own = values(narrow);
    const Values& around = values(wide);
    std::map<StringId, StringId> lies_in;
    for (std::size_t position = 0; position < own.size(); ++position) {
      if (!own[position] || !around[position]) continue;
      const StringId first = lies_in.try_emplace(*own[position], *around[position]).first->second;
      if (first == *around[position]) continue;
      return Torn{.value = std::string(cluster_.text(*own[position])),
                  .first = std::string(cluster_.text(first)),
                  .second = std::string(cluster_.text(*around[position]))};
    }
    return std::nullopt;
  }

  const Cluster& cluster_;
  std::map<std::string, Values, std::less<>> values_;
  std::map<std::pair<std::string, std::string>, std::optional<Torn>> torn_;
};

constexpr std::string_view required_field = "spec.schedulingConstraints.topology";

class TopologyLint {
 public:
  TopologyLint(Findings& findings, NodeLabels& labels, const Group& group)
      : findings_(findings),
        labels_(labels),
        group_(group),
        required_(group.object->policy.topology_keys),
        preferred_(group.object->preferred_topology),
        object_(object_text("PodGroup", group.object->namespace_name, group.object->name)) {}

  void run() {
    lint_template();
    lint_required();
    lint_preferred();
    lint_nesting();
  }

 private:
  void lint_template();
  void lint_required();
  void lint_preferred();
  void lint_nesting();
  void lint_pair(const std::string& narrow, const std::string& wide);

  Findings& findings_;
  NodeLabels& labels_;
  const Group& group_;
  const std::vector<std::string>& required_;
  const std::vector<std::string>& preferred_;
  std::string object_;
};

/// Controllers copy the template into the group; the group's own word counts.
void TopologyLint::lint_template() {
  const GroupTemplate* const entry = findings_.cluster().template_of(group_);
  if (entry == nullptr || entry->policy.topology_keys == required_) return;
  const std::vector<std::string>& keys = entry->policy.topology_keys;
  const std::string theirs =
      keys.empty() ? "no topology" : fmt::format("{}", fmt::join(keys, ", "));
  findings_.warning({.object = object_,
                     .field = std::string(required_field),
                     .value = shorten(fmt::format("{}", fmt::join(required_, ", "))),
                     .message = fmt::format("its template {} says {}; the group's own counts",
                                            entry->name, theirs),
                     .remedy = "say the same in both"});
}

void TopologyLint::lint_required() {
  for (std::size_t at = 0; at < required_.size(); ++at) {
    if (labels_.carried(required_[at])) continue;
    findings_.warning({.object = object_,
                       .field = fmt::format("{}[{}].key", required_field, at),
                       .value = shorten(required_[at]),
                       .message = "no node carries this label, so the group cannot be placed",
                       .remedy = "label the nodes or correct the key"});
  }
  if (required_.size() < 2) return;
  findings_.warning(
      {.object = object_,
       .field = std::string(required_field),
       .value = shorten(fmt::format("{}", fmt::join(required_, ", "))),
       .message = "Makeway keeps the group where all of these are equal, an API server takes one",
       .remedy = "leave the narrowest"});
}

void TopologyLint::lint_preferred() {
  for (const std::string& key : preferred_) {
    const bool required = std::ranges::find(required_, key) != required_.end();
    if (!required && labels_.carried(key)) continue;
    findings_.warning({.object = object_,
                       .field = annotation_field(names::preferred_topology),
                       .value = shorten(key),
                       .message = required ? "the group requires this level, so there is nothing "
                                             "left to prefer"
                                           : "no node carries this label, so it has no effect",
                       .remedy = required ? "leave it out of the annotation"
                                          : "label the nodes or correct the key"});
  }
}

/// Each level against the next wider one, the widest against what is required.
void TopologyLint::lint_nesting() {
  for (std::size_t at = 0; at < preferred_.size(); ++at) {
    if (at + 1 < preferred_.size()) {
      lint_pair(preferred_[at], preferred_[at + 1]);
    } else {
      for (const std::string& key : required_) lint_pair(preferred_[at], key);
    }
  }
}

void TopologyLint::lint_pair(const std::string& narrow, const std::string& wide) {
  if (narrow == wide) return;
  const std::optional<Torn>& torn = labels_.torn(narrow, wide);
  if (!torn) return;
  findings_.warning(
      {.object = object_,
       .field = annotation_field(names::preferred_topology),
       .value = shorten(narrow),
       .message = fmt::format("{0}={1} lies in {2}={3} and in {2}={4}; each part counts as a "
                              "domain of its own",
                              narrow, torn->value, wide, torn->first, torn->second),
       .remedy = "list levels from the narrowest to the widest, inside what is required, or "
                 "correct the nodes' labels"});
}

}  // namespace

void lint_topology(Findings& findings) {
  const Cluster& cluster = findings.cluster();
  if (cluster.node_count() == 0) return;
  NodeLabels labels(cluster);
  for (const GroupIndex index : cluster.groups_by_name()) {
    const Group& group = cluster.groups()[index];
    if (group.object) TopologyLint(findings, labels, group).run();
  }
}

}  // namespace makeway
