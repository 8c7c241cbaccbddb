#include "model/object_hash.hpp"

#include <concepts>
#include <string>

#include "base/intern.hpp"

namespace makeway {
namespace {

/// Feeds the parts of a value, in order, into one hash.
class Hasher {
 public:
  template <class... Parts>
  Hasher& operator()(const Parts&... parts) {
    (add(parts), ...);
    return *this;
  }
  std::uint64_t result() const { return hash_; }

 private:
  void word(std::uint64_t value) { hash_ = hash_combine(hash_, value); }

  void add(const std::string& text) { word(makeway::hash_of(text)); }
  void add(std::integral auto value) { word(static_cast<std::uint64_t>(value)); }
  template <class Enum>
    requires std::is_enum_v<Enum>
  void add(Enum value) {
    word(static_cast<std::uint64_t>(value));
  }
  void add(Time time) { word(static_cast<std::uint64_t>(time.ms)); }
  void add(const Label& label) { (*this)(label.key, label.value); }
  void add(const Requirement& value) { (*this)(value.key, value.operation, value.values); }
  void add(const LabelSelector& selector) { add(selector.requirements); }
  void add(const NodeSelectorTerm& term) { (*this)(term.labels, term.fields); }
  void add(const Taint& taint) { (*this)(taint.key, taint.value, taint.effect); }
  void add(const Toleration& value) { (*this)(value.key, value.exists, value.value, value.effect); }
  void add(const PodAffinityTerm& term) {
    (*this)(term.selector, term.namespaces, term.namespace_selector, term.topology_key);
  }
  void add(const SpreadConstraint& value) {
    (*this)(value.topology_key, value.skew_max, value.domains_min, value.honor_node_affinity,
            value.honor_node_taints, value.selector);
  }
  void add(const NodePreference& value) { (*this)(value.weight, value.term); }
  void add(const PodPreference& value) { (*this)(value.weight, value.term); }
  void add(const PodPreferences& value) { (*this)(value.nodes, value.pods, value.spread); }
  void add(const HostPort& value) { (*this)(value.port, value.protocol, value.ip); }
  void add(const ClaimUse& use) {
    (*this)(use.kind, use.namespace_name, use.name, use.local, use.pod, use.pod_uid);
  }
  void add(const LossShare& share) { (*this)(share.unit, share.part, share.allowed); }
  void add(const OwnerReference& owner) {
    (*this)(owner.kind, owner.name, owner.uid, owner.controller);
  }
  template <class T>
  void add(const std::optional<T>& value) {
    word(value.has_value() ? 1 : 0);
    if (value) add(*value);
  }
  template <class T>
  void add(const std::vector<T>& values) {
    word(values.size());
    for (const T& value : values) add(value);
  }

  std::uint64_t hash_ = 0;
};

}  // namespace

std::uint64_t hash_of(const PodShape& shape) {
  return Hasher{}(shape.node_selector, shape.node_terms, shape.tolerations, shape.ports,
                  shape.affinity, shape.anti_affinity, shape.spread, shape.claims,
                  shape.unsupported, shape.preferences)
      .result();
}

std::uint64_t hash_of(const PodNotes& notes) {
  return Hasher{}(notes.preemption_priority_class, notes.queue, notes.required_node,
                  notes.reserved_since, notes.promised, notes.evicted_for, notes.plan,
                  notes.last_checkpoint, notes.preemption_cost_seconds, notes.made_from, notes.wave,
                  notes.wave_after, notes.loss_units, notes.marks)
      .result();
}

std::uint64_t hash_of(const std::vector<Taint>& taints) { return Hasher{}(taints).result(); }

std::uint64_t hash_of(const std::vector<OwnerReference>& owners) {
  return Hasher{}(owners).result();
}

}  // namespace makeway
