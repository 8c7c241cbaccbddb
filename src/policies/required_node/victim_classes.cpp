#include "policies/required_node/victim_classes.hpp"

#include <algorithm>

namespace makeway {

VictimClasses::VictimClasses(const Cluster& cluster, const Configuration& configuration,
                             const VictimRules& rules)
    : cluster_(cluster), rules_(rules), named_owners_(cluster.pods().slots()) {
  const std::vector<std::string>& lines = configuration.required_node.victim_classes;
  lines_.reserve(lines.size());
  for (const std::string& line : lines) lines_.push_back(read(line));
  const auto lists = [this](Kind kind) {
    return std::ranges::find(lines_, kind, &Line::kind) != lines_.end();
  };
  opted_out_protected_ = configuration.protection.protect_opted_out && !lists(Kind::opted_out);
  if (lists(Kind::owner)) find_owners();
  pairs_listed_ = lists(Kind::label) || lists(Kind::annotation);
  for (std::size_t at = 0; at < lines_.size(); ++at) {
    const auto position = static_cast<std::uint8_t>(at);
    if (lines_[at].kind == Kind::regular) regular_class_ = owner_class_ = position;
    if (lines_[at].kind == Kind::owner) owner_class_ = position;
  }
}

VictimClasses::Line VictimClasses::read(std::string_view text) const {
  if (text == "regular") return {};
  if (text == "owner") return {.kind = Kind::owner};
  if (text == "opted-out") return {.kind = Kind::opted_out};
  const std::size_t colon = text.find(':');
  const std::size_t equals = text.find('=');
  Line line{.kind = text.starts_with("label:") ? Kind::label : Kind::annotation,
            .key = std::string(text.substr(colon + 1, equals - colon - 1)),
            .value = std::string(text.substr(equals + 1))};
  if (line.kind == Kind::annotation) return line;
  const std::optional<StringId> key = cluster_.strings().find(line.key);
  const std::optional<StringId> value = cluster_.strings().find(line.value);
  line.known = key && value;
  line.key_id = key.value_or(StringId{0});
  line.value_id = value.value_or(StringId{0});
  return line;
}

/// Owner references name objects of the pod's own namespace.
void VictimClasses::find_owners() {
  const PodColumns& pods = cluster_.pods();
  for (const PodIndex pod : cluster_.each_pod()) {
    if (pods.owners[pod] == OwnersId{0}) continue;
    for (const OwnerReference& owner : cluster_.owners(pods.owners[pod])) {
      if (owner.kind != "Pod") continue;
      const auto named = cluster_.find_pod(cluster_.text(pods.namespace_name[pod]), owner.name,
                                           cluster_.text(pods.plane[pod]));
      if (!named || *named == pod) continue;
      const std::string_view uid = pods.uid[named->value];
      if (!owner.uid.empty() && !uid.empty() && owner.uid != uid) continue;
      named_owners_.writable(*named) = 1;
      owners_named_ = true;
    }
  }
}

bool VictimClasses::matches(const Line& line, PodIndex pod, bool opted_out) const {
  switch (line.kind) {
    case Kind::regular: return true;
    case Kind::owner: return is_owner(pod);
    case Kind::opted_out: return opted_out;
    case Kind::label: {
      if (!line.known) return false;
      const LabelPair wanted{.key = line.key_id, .value = line.value_id};
      const auto labels = cluster_.labels(cluster_.pods().labels[pod]);
      return std::ranges::find(labels, wanted) != labels.end();
    }
    case Kind::annotation: {
      const PodNotes& notes = cluster_.notes(cluster_.pods().notes[pod]);
      return std::ranges::find(notes.marks, Label{.key = line.key, .value = line.value}) !=
             notes.marks.end();
    }
  }
  return false;
}

std::uint8_t VictimClasses::find(PodIndex pod, bool opted_out) const {
  for (std::size_t at = lines_.size(); at-- > 0;) {
    if (matches(lines_[at], pod, opted_out)) return static_cast<std::uint8_t>(at);
  }
  return none;
}

std::uint8_t VictimClasses::of(PodIndex pod) const {
  const bool opted_out = rules_.opted_out(pod);
  return opted_out && opted_out_protected_ ? none : find(pod, opted_out);
}

}  // namespace makeway
