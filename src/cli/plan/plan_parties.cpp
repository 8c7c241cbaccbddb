#include "cli/plan/plan_parties.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>
#include <string_view>
#include <vector>

#include "cli/text.hpp"
#include "model/object_text.hpp"

namespace makeway::cli {
namespace {

/// "web" of the ReplicaSet "web-7d4b9c" whose pods carry that hash; empty: it has no Deployment.
std::string_view deployment_of(const Cluster& cluster, PodIndex pod, std::string_view replica_set) {
  for (const LabelPair& label : cluster.labels(cluster.pods().labels[pod])) {
    if (cluster.text(label.key) != "pod-template-hash") continue;
    const std::string_view hash = cluster.text(label.value);
    if (hash.empty() || replica_set.size() < hash.size() + 2) return {};
    const std::size_t dash = replica_set.size() - hash.size() - 1;
    const bool carried = replica_set.ends_with(hash) && replica_set[dash] == '-';
    return carried ? replica_set.substr(0, dash) : std::string_view{};
  }
  return {};
}

/// "PodGroup shop/training" -> its kind and name.
Party party_called(std::string_view text, const std::string& namespace_name) {
  const std::size_t blank = text.find(' ');
  const std::size_t slash = text.find('/');
  const std::size_t name = slash == std::string_view::npos ? blank : slash;
  return {
      .kind = std::string(text.substr(0, blank)),
      .namespace_name = namespace_name,
      .name = name == std::string_view::npos ? std::string{} : std::string(text.substr(name + 1))};
}

}  // namespace

std::string party_text(const Party& party) {
  return object_text(party.kind, party.namespace_name, party.name);
}

Party Parties::of_pod(const ObjectKeyView& key) const {
  Party party{.kind = "Pod",
              .namespace_name = std::string(key.namespace_name),
              .name = std::string(key.name)};
  if (cluster_ == nullptr) return party;
  const std::optional<PodIndex> pod = cluster_->find_pod(key.namespace_name, key.name, key.plane);
  if (!pod) return party;
  const std::vector<OwnerReference>& owners = cluster_->owners(cluster_->pods().owners[*pod]);
  if (owners.empty()) return party;
  auto owner = std::ranges::find_if(owners, &OwnerReference::controller);
  if (owner == owners.end()) owner = owners.begin();
  if (owner->kind.empty() || owner->name.empty()) return party;
  party.kind = owner->kind;
  party.name = owner->name;
  if (party.kind != "ReplicaSet") return party;
  if (replica_sets_ != nullptr && key.plane.empty()) {
    const auto known = replica_sets_->find({party.namespace_name, party.name});
    if (known != replica_sets_->end()) {
      party.kind = "Deployment";
      party.name = known->second;
      return party;
    }
  }
  if (const std::string_view name = deployment_of(*cluster_, *pod, owner->name); !name.empty()) {
    party.kind = "Deployment";
    party.name = name;
  }
  return party;
}

Party Parties::of(const PlanAsk& ask) const {
  if (ask.kind != AskKind::pod) {
    return {.kind = std::string(choice_name(ask.kind)),
            .namespace_name = ask.namespace_name,
            .name = ask.name};
  }
  if (!ask.made_from.empty()) return party_called(ask.made_from, ask.namespace_name);
  return of_pod({ask.namespace_name, ask.name, ask.plane});
}

Party Parties::of(const PlanVictim& victim) const {
  const bool alone = victim.unit.empty() || victim.unit.starts_with("Pod ");
  return alone ? of_pod({victim.namespace_name, victim.name, victim.plane})
               : party_called(victim.unit, victim.namespace_name);
}

Party Parties::of(const PlanReplicaVictim& victim) {
  const bool lone = victim.deployment.empty();
  return {.kind = lone ? "Pod" : "Deployment",
          .namespace_name = victim.namespace_name,
          .name = lone ? victim.name : victim.deployment};
}

std::string few_asks(std::span<const PlanAsk* const> asks, const Parties& parties) {
  constexpr std::size_t shown_max = 3;
  std::map<Party, std::size_t> counts;
  for (const PlanAsk* const ask : asks) ++counts[parties.of(*ask)];
  std::vector<std::string> names;
  std::set<Party> shown_parties;
  std::size_t listed = 0;
  for (const PlanAsk* const ask : asks) {
    if (names.size() == shown_max) break;
    const Party party = parties.of(*ask);
    const bool together = !party.is_pod() && counts[party] >= replicas_grouped_min;
    if (together && !shown_parties.insert(party).second) continue;
    listed += together ? counts[party] : 1;
    names.push_back(together
                        ? fmt::format("{} of {}", counted(counts[party], "pod"), party_text(party))
                        : ask_text(*ask));
  }
  std::string text = fmt::format("{}", fmt::join(names, ", "));
  if (asks.size() > listed) text += fmt::format(" and {} more", grouped(asks.size() - listed));
  return text;
}

}  // namespace makeway::cli
