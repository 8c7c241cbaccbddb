#include "cli/plan/ask_name.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "base/problem.hpp"
#include "cli/command.hpp"
#include "cli/plan/ask_kinds.hpp"
#include "cli/text.hpp"
#include "model/knobs.hpp"
#include "model/object_text.hpp"
#include "model/session_lifecycle.hpp"

namespace makeway::cli {

constinit const std::array<AskKindRow, choice_names<AskKind>.size()> ask_kinds = {{
    {.kind = AskKind::pod, .victim = "pod"},
    {.kind = AskKind::pod_group, .victim = "pod"},
    {.kind = AskKind::queue, .victim = "pod", .own_actions = "moving room between queues"},
    {.kind = AskKind::replica_schedule,
     .victim = "pod",
     .own_actions = "scale-up, scale-down and force-delete",
     .body = replicas_text},
    {.kind = AskKind::session,
     .victim = "session",
     .own_actions = "starting, requeueing and suspending sessions",
     .victims_table = session_victims_table},
}};

std::string places_of(const PlanAsk& ask) {
  std::vector<std::string> nodes;
  nodes.reserve(ask.placements.size());
  for (const PodPlacement& placement : ask.placements) nodes.push_back(placement.node);
  return few_names(std::move(nodes));
}

namespace {

constexpr std::string_view default_namespace = "default";

std::optional<AskKind> kind_of(std::string_view word) {
  for (const AskKindRow& row : ask_kinds) {
    if (row.kind == AskKind::queue) continue;  // Users cannot ask for it.
    if (lower_case(word) == lower_case(choice_name(row.kind))) return row.kind;
  }
  return std::nullopt;
}

struct Candidate {
  AskKind kind = AskKind::pod;
  std::string_view namespace_name;
  std::string_view name;
  bool pending = true;
};

/// Every unit that could have been meant, in the order of its name: pending pods, all groups
/// and all sessions.
std::vector<Candidate> candidates(const Cluster& cluster, Time now) {
  std::vector<Candidate> all;
  const PodColumns& pods = cluster.pods();
  for (const PodIndex pod : cluster.pending_pods()) {
    all.push_back({.kind = AskKind::pod,
                   .namespace_name = cluster.text(pods.namespace_name[pod]),
                   .name = pods.name[pod.value]});
  }
  const auto is_pending = [&](PodIndex pod) { return cluster.pending_pods().contains(pod); };
  for (const GroupIndex index : cluster.groups_by_name()) {
    const Group& group = cluster.groups()[index];
    if (group.plane != StringId{0}) continue;
    all.push_back({.kind = AskKind::pod_group,
                   .namespace_name = cluster.text(group.namespace_name),
                   .name = cluster.text(group.name),
                   .pending = std::ranges::any_of(group.members, is_pending)});
  }
  for (const auto& [key, schedule] : cluster.own<ReplicaSchedule>()) {
    all.push_back({.kind = AskKind::replica_schedule,
                   .namespace_name = key.namespace_name,
                   .name = key.name,
                   .pending = schedule.unmet > 0});
  }
  for (const auto& [key, session] : cluster.own<Session>()) {
    all.push_back({.kind = AskKind::session,
                   .namespace_name = session.namespace_name,
                   .name = session.name,
                   .pending = standing_of(session, now) == SessionStanding::pending});
  }
  std::ranges::sort(all, {}, [](const Candidate& unit) {
    return std::tuple(unit.kind, unit.namespace_name, unit.name);
  });
  return all;
}

std::string text_of(const Candidate& unit) {
  return fmt::format("{} {}/{}", choice_name(unit.kind), shorten(unit.namespace_name),
                     shorten(unit.name));
}

/// "pending are Pod a/b, Pod a/c and 3 others": units of the same namespace first, then those whose
/// names begin alike.
std::string pending_units_text(std::vector<Candidate> units, const AskName& ask) {
  constexpr std::size_t shown_max = 3;
  std::erase_if(units, [](const Candidate& unit) { return !unit.pending; });
  if (units.empty()) return "nothing is pending";
  if (units.size() == 1) return fmt::format("only {} is pending", text_of(units.front()));
  std::ranges::stable_sort(units, {}, [&](const Candidate& unit) {
    const auto alike = std::ranges::mismatch(unit.name, ask.name).in1 - unit.name.begin();
    return std::tuple(unit.namespace_name != ask.namespace_name, -alike);
  });
  std::vector<std::string> names;
  for (const Candidate& unit : units) {
    if (names.size() == shown_max) break;
    names.push_back(text_of(unit));
  }
  const std::size_t others = units.size() - names.size();
  std::string last = others == 0 ? names.back() : counted(others, "other");
  if (others == 0) names.pop_back();
  return fmt::format("pending are {} and {}", fmt::join(names, ", "), last);
}

constexpr std::string_view expected_form =
    "expected [KIND/]NAMESPACE/NAME with KIND pod, podgroup, replicaschedule, session or a kind of "
    "workload such as job or deployment";

/// What a workload is called among those that were loaded; null: it is not among them.
const WorkloadPods* find_workload(const WrittenAsk& written,
                                  std::span<const WorkloadPods> workloads) {
  const auto found = std::ranges::find_if(workloads, [&](const WorkloadPods& each) {
    return each.namespace_name == written.namespace_name && each.name == written.name &&
           (written.workload.empty() || each.kind == written.workload);
  });
  return found == workloads.end() ? nullptr : &*found;
}

/// Its pods; members of a group ask together.
void add_pods_of(const WorkloadPods& workload, const Cluster& cluster, std::vector<AskName>& asks) {
  for (const PodIndex pod : workload.pending) {
    const Unit& unit = cluster.units()[cluster.pods().unit[pod]];
    const bool lone = unit.kind == UnitKind::pod;
    AskName ask{.kind = lone ? AskKind::pod : AskKind::pod_group,
                .namespace_name = std::string(cluster.text(cluster.pods().namespace_name[pod])),
                .name = lone ? std::string(cluster.pods().name[pod.value])
                             : std::string(cluster.text(cluster.groups()[unit.group].name))};
    if (lone || std::ranges::find(asks, ask) == asks.end()) asks.push_back(std::move(ask));
  }
}

/// Why it has no ask.
std::string nothing_pending_text(const WrittenAsk& written, const WorkloadPods* workload) {
  if (workload == nullptr) {
    return fmt::format("there is no {} {}/{} in the input", written.workload,
                       shorten(written.namespace_name), shorten(written.name));
  }
  return fmt::format("{} has no pending pod; {} of its pods are there",
                     shorten(workload->object(), 120), workload->present);
}

}  // namespace

Result<WrittenAsk> parse_ask(std::string_view text, std::optional<AskKind> kind) {
  WrittenAsk ask{.kind = kind};
  const std::size_t first = text.find('/');
  if (first != std::string_view::npos && text.find('/', first + 1) != std::string_view::npos) {
    const std::string_view word = text.substr(0, first);
    const std::optional<AskKind> written = kind_of(word);
    if (!written && !kind) ask.workload = workload_kind_called(word);
    if (!written && !kind && ask.workload.empty()) {
      return wrong_usage(fmt::format("'{}' is no kind of ask; {}", shorten(word), expected_form));
    }
    if (written || !ask.workload.empty()) text.remove_prefix(first + 1);
    if (!kind) ask.kind = written;
  }
  const std::size_t slash = text.find('/');
  const bool bare = slash == std::string_view::npos;
  ask.namespace_name = bare ? default_namespace : text.substr(0, slash);
  ask.name = bare ? text : text.substr(slash + 1);
  if (ask.namespace_name.empty() || ask.name.empty() || ask.name.ends_with('/')) {
    return wrong_usage(std::string(expected_form));
  }
  return ask;
}

Result<WrittenObject> parse_object(std::string_view text) {
  const std::size_t plane = text.find(of_plane);
  Result<WrittenAsk> written = parse_ask(text.substr(0, plane));
  if (!written) return std::unexpected(written.error());
  WrittenObject object{.written = std::move(*written), .plane = {}};
  if (plane != std::string_view::npos) object.plane = text.substr(plane + of_plane.size());
  return object;
}

bool is_ask_kind(std::string_view word) {
  return kind_of(word) || !workload_kind_called(word).empty();
}

bool is_there(const AskName& ask, const Cluster& cluster) {
  if (ask.kind == AskKind::replica_schedule) {
    return cluster.own<ReplicaSchedule>().contains({ask.namespace_name, ask.name});
  }
  if (ask.kind == AskKind::session) {
    return cluster.own<Session>().contains({ask.namespace_name, ask.name});
  }
  return ask.kind == AskKind::pod ? cluster.find_pod(ask.namespace_name, ask.name).has_value()
                                  : cluster.find_group(ask.namespace_name, ask.name).has_value();
}

AskName resolve_ask(const WrittenAsk& written, const Cluster& cluster) {
  AskName ask{.kind = written.kind.value_or(AskKind::pod),
              .namespace_name = written.namespace_name,
              .name = written.name};
  if (written.kind || is_there(ask, cluster)) return ask;
  for (const AskKindRow& row : ask_kinds) {
    AskName other = ask;
    other.kind = row.kind;
    if (is_there(other, cluster)) return other;
  }
  return ask;
}

std::vector<AskedWorkload> asked_workloads(std::span<const WrittenAsk> asks) {
  std::vector<AskedWorkload> asked;
  for (const WrittenAsk& ask : asks) {
    if (ask.kind) continue;
    asked.push_back({.kind = ask.workload, .namespace_name = ask.namespace_name, .name = ask.name});
  }
  return asked;
}

Result<std::vector<AskName>> resolve_asks(std::span<const WrittenAsk> written,
                                          const Cluster& cluster,
                                          std::span<const WorkloadPods> workloads) {
  std::vector<AskName> asks;
  for (const WrittenAsk& each : written) {
    AskName ask = resolve_ask(each, cluster);
    const WorkloadPods* const workload = find_workload(each, workloads);
    const bool means_workload =
        !each.workload.empty() || (!each.kind && workload != nullptr && !is_there(ask, cluster));
    if (!means_workload) {
      asks.push_back(std::move(ask));
      continue;
    }
    if (workload == nullptr || workload->pending.empty()) {
      return wrong_usage(nothing_pending_text(each, workload));
    }
    add_pods_of(*workload, cluster, asks);
  }
  return asks;
}

std::string near_misses(const AskName& ask, const Cluster& cluster, Time now) {
  constexpr std::size_t shown_max = 3;
  const std::vector<Candidate> all = candidates(cluster, now);
  std::vector<std::string_view> here;
  std::vector<std::string_view> anywhere;
  for (const Candidate& unit : all) {
    anywhere.push_back(unit.name);
    if (unit.namespace_name == ask.namespace_name) here.push_back(unit.name);
  }
  // The same name in another namespace, then a slip of the pen in this one, then anywhere.
  const bool same = std::ranges::find(anywhere, ask.name) != anywhere.end();
  const std::string_view near_here = nearest_of(here, ask.name);
  const std::string_view near = near_here.empty() ? nearest_of(anywhere, ask.name) : near_here;
  const std::string_view wanted = same ? std::string_view(ask.name) : near;
  std::vector<std::string> found;
  for (const Candidate& unit : all) {
    const bool far = !same && !near_here.empty() && unit.namespace_name != ask.namespace_name;
    if (unit.name == wanted && !far && found.size() < shown_max) found.push_back(text_of(unit));
  }
  if (!found.empty()) return fmt::format("did you mean {}?", fmt::join(found, " or "));
  return pending_units_text(all, ask);
}

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
