#include "policies/session/session_explain.hpp"

#include <algorithm>
#include <map>
#include <ranges>
#include <set>

#include "base/checked_math.hpp"
#include "engine/refusals.hpp"
#include "engine/room.hpp"
#include "model/gpus.hpp"
#include "model/object_text.hpp"
#include "policies/shared/cluster_text.hpp"
#include "policies/shared/plan_writer.hpp"
#include "policies/shared/pod_entries.hpp"
#include "policies/shared/waiting.hpp"

namespace makeway {
namespace {

constexpr std::size_t spared_max = 10;

ObjectName session_name(const SessionEntry& entry) {
  return {.kind = MentionKind::session,
          .namespace_name = entry.object->namespace_name,
          .name = entry.object->name};
}

/// "n1,n2"
std::string joined(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) {
    if (!text.empty()) text += ',';
    text += name;
  }
  return text;
}

/// Sorted, each once.
std::vector<std::string> nodes_of(const SessionTable& table, const SessionEntry& entry) {
  std::set<std::string> nodes;
  for (const SessionKernel& kernel : table.kernels(entry)) {
    if (kernel.node.exists()) nodes.insert(node_name(table.cluster(), kernel.node));
  }
  return {nodes.begin(), nodes.end()};
}

PlanCost cost_of(const SessionTable& table, const SessionEntry& entry) {
  PlanCost cost{.pod_seconds = table.lost_work_seconds(entry)};
  const std::int64_t seconds = cost.pod_seconds / std::max<std::int64_t>(1, entry.kernels_count);
  for (const Kernel& kernel : entry.object->kernels) {
    for (const Amount& amount : kernel.requests) {
      if (!is_gpu(amount.resource)) continue;
      cost.gpu_seconds = saturated_add(cost.gpu_seconds, saturated_mul(seconds, amount.amount));
    }
  }
  return cost;
}

/// Nodes that refuse its largest kernel, by the scarcest resource that is short there.
std::vector<PlanRefusal> refusals_of(World& world, const SessionTable& table,
                                     const SessionEntry& entry, const RoomRows& room) {
  RefusalTally tally;
  const std::span<const ResourceAmount> demand = table.demand(table.kernels(entry).front().demand);
  for (const SessionPlace place : table.open_nodes(entry)) {
    const auto missing = std::ranges::find_if(demand, [&](const ResourceAmount& item) {
      return item.amount > room[place][item.resource.value];
    });
    if (missing == demand.end()) continue;
    tally.add({.reason = RefusalReason::resource,
               .detail = world.survey().resource_note(missing->resource),
               .amount = saturated_sub(missing->amount, room[place][missing->resource.value]),
               .resolvable = true},
              table.nodes()[place], place.value);
  }
  return tally.refusals(world.survey());
}

}  // namespace

std::string session_text(const SessionEntry& entry) {
  return object_text("Session", entry.object->namespace_name, entry.object->name);
}

void explain_fit(const SessionTable& table, const SessionEntry& entry, PlanAsk& ask) {
  std::set<std::string_view> nodes;
  for (const PodPlacement& placement : ask.placements) nodes.insert(placement.node);
  const bool continues = entry.standing == SessionStanding::suspended;
  const std::string& group = table.group_of(entry).object->name;
  if (nodes.size() == 1) {
    set_reason(table.cluster(), ask,
               {.code = continues ? ReasonCode::session_continues_on_node
                                  : ReasonCode::session_fits_on_node,
                .arguments = {*nodes.begin(), group}});
    return;
  }
  set_reason(table.cluster(), ask,
             {.code = continues ? ReasonCode::session_continues_on_nodes
                                : ReasonCode::session_fits_on_nodes,
              .arguments = {nodes.size(), group}});
}

// ---- Waiting ------------------------------------------------------------------------------------

namespace {

/// What kernels ask for on each node that they go to.
std::map<NodeIndex, std::vector<std::int64_t>> wanted_by_node(
    const SessionTable& table, const SessionEntry& entry, const std::vector<SessionPlace>& places) {
  const Cluster& cluster = table.cluster();
  const std::span<const SessionKernel> kernels = table.kernels(entry);
  const bool runs_on = entry.standing == SessionStanding::suspended;
  std::map<NodeIndex, std::vector<std::int64_t>> wanted;
  for (std::size_t at = 0; at < kernels.size(); ++at) {
    const std::span<const ResourceAmount> amounts =
        runs_on ? request_of(cluster, kernels[at].row) : table.demand(kernels[at].demand);
    std::vector<std::int64_t>& sums = wanted[table.nodes()[places[at]]];
    sums.resize(cluster.order().columns());
    for (const ResourceAmount& item : amounts) sums[item.resource.value] += item.amount;
  }
  return wanted;
}

}  // namespace

void explain_waiting(World& world, const SessionTable& table, const SessionEntry& entry,
                     const std::vector<SessionPlace>& places, PlanAsk& ask) {
  const auto wanted = wanted_by_node(table, entry, places);
  std::vector<NodeIndex> nodes;
  nodes.reserve(wanted.size());
  for (const auto& [node, amounts] : wanted) nodes.push_back(node);
  const Room room(world);
  const auto fits = [&] {
    return std::ranges::all_of(
        wanted, [&](const auto& item) { return room.fits(item.first, Horizon::now, item.second); });
  };
  const std::vector<PodIndex> needed = world.needed_leavers(nodes, World::Elsewhere::ignored, fits);
  wait_for(world, needed, ask);
  if (ask.waits_for.empty()) {
    set_reason(world.cluster(), ask, {.code = ReasonCode::session_fits_after_sessions});
    return;
  }
  const PodPlacement& first = ask.waits_for.front();
  // A kernel's name has its session's before it.
  const bool is_kernel = first.name.find('/') != std::string::npos;
  set_reason(world.cluster(), ask,
             {.code = ask.waits_for.size() == 1 ? ReasonCode::session_fits_after_one
                                                : ReasonCode::session_fits_after_several,
              .arguments = {ObjectName{.kind = is_kernel ? MentionKind::kernel : MentionKind::pod,
                                       .namespace_name = first.namespace_name,
                                       .name = first.name},
                            ask.waits_for.size() - 1}});
}

// ---- No place -----------------------------------------------------------------------------------

namespace {

/// Which sessions may be preempted.
Reason lower_than(bool divided) {
  return {.code = divided ? ReasonCode::of_lower_tiers : ReasonCode::of_lower_priority};
}

/// Whether a session that could be preempted for it would only be suspended.
bool keeps_memory_of_some(const SessionTable& table, const SessionEntry& ask) {
  return std::ranges::any_of(table.sessions(), [&](const SessionEntry& holder) {
    const Partition* const partition = table.partition_of(holder);
    return partition != nullptr && partition->mode == PartitionMode::suspend &&
           holder.standing == SessionStanding::running && holder.group == ask.group &&
           holder.tier < ask.tier;
  });
}

}  // namespace

void explain_no_help(const SessionTable& table, const SessionEntry& entry, std::size_t candidates,
                     PlanAsk& ask) {
  const std::string& group = table.group_of(entry).object->name;
  const bool divided = entry.partition.exists();
  const ReasonCode code = table.open_nodes(entry).empty() ? ReasonCode::session_no_open_node
                          : candidates == 0               ? ReasonCode::session_nothing_to_preempt
                          : candidates == 1               ? ReasonCode::session_unfit_without_one
                                                          : ReasonCode::session_unfit_without_all;
  set_reason(table.cluster(), ask,
             {.code = code, .arguments = {group, lower_than(divided), candidates}});
  if (table.open_nodes(entry).empty() || candidates == 0) return;
  if (keeps_memory_of_some(table, entry)) {
    add_reason(table.cluster(), ask, {.code = ReasonCode::session_memory_stays});
  }
}

namespace {

/// Why a session that holds something on a node keeps it; none: it would leave.
std::optional<Reason> why_it_keeps(const SessionTable& table, const SessionCandidates& order,
                                   const SessionEntry& ask, const SessionEntry& holder) {
  if (holder.standing == SessionStanding::suspended) {
    return Reason{.code = ReasonCode::stays_suspended};
  }
  const bool divided = ask.partition.exists();
  const bool lower = divided ? holder.tier < ask.tier : holder.priority < ask.priority;
  if (!lower) {
    return Reason{.code = divided ? ReasonCode::stays_not_lower_tier : ReasonCode::stays_not_lower};
  }
  if (&table.group_of(holder) != &table.group_of(ask)) {
    return Reason{.code = ReasonCode::stays_in_other_group};
  }
  return order.why_not(holder);
}

/// On the node that is the example of the refusal.
void add_holders(const SessionTable& table, const SessionCandidates& order, const SessionEntry& ask,
                 PlanRefusal& refusal) {
  for (const SessionEntry& holder : table.sessions()) {
    // Of what it asked for, a suspended session still has the memory.
    const bool keeps_memory_only = holder.standing == SessionStanding::suspended;
    if (keeps_memory_only && refusal.detail != "memory") continue;
    const bool holds = std::ranges::any_of(holder.object->kernels, [&](const Kernel& kernel) {
      return kernel.node == refusal.example &&
             std::ranges::find(kernel.requests, refusal.detail, &Amount::resource) !=
                 kernel.requests.end();
    });
    if (!holds) continue;
    const std::optional<Reason> why = why_it_keeps(table, order, ask, holder);
    if (!why) continue;
    refusal.holders.push_back({.namespace_name = holder.object->namespace_name,
                               .name = holder.object->name,
                               .plane = holder.object->plane,
                               .priority = holder.priority,
                               .why = write_text(table.cluster(), *why)});
  }
  sort_holders(refusal);
}

}  // namespace

void explain_refusals(World& world, const SessionTable& table, const SessionCandidates& order,
                      const SessionEntry& entry, const RoomRows& room, PlanAsk& ask) {
  ask.explanation.refusals = refusals_of(world, table, entry, room);
  for (PlanRefusal& refusal : ask.explanation.refusals.edit())
    add_holders(table, order, entry, refusal);
}

void explain_not_its_turn(World& world, const SessionTable& table, SessionIndex first,
                          PlanAsk& ask) {
  const bool head_only = world.configuration().session.preemptors == Preemptors::head_only;
  set_reason(world.cluster(), ask,
             {.code = head_only ? ReasonCode::session_first_only : ReasonCode::session_before_only,
              .arguments = {session_name(table.sessions()[first]), ask.session->resource_group}});
}

// ---- Victims ------------------------------------------------------------------------------------

namespace {

class VictimExplainer {
 public:
  VictimExplainer(World& world, const SessionTable& table, const SessionCandidates& order,
                  const SessionVictims& victims, const SessionEntry& entry,
                  std::span<const SessionIndex> candidates, PlanAsk& ask)
      : world_(world),
        table_(table),
        order_(order),
        victims_(victims),
        entry_(entry),
        candidates_(candidates),
        ask_(ask),
        leaves_(table.sessions().size()) {
    for (const SessionIndex victim : victims.victims()) leaves_[victim] = 1;
  }

  void explain() {
    const std::vector<SessionIndex>& all = victims_.victims();
    for (const SessionIndex victim : std::views::reverse(all)) add(victim);
    explain_spared();
    ask_.explanation.potential_victims = static_cast<std::int64_t>(candidates_.size());
    set_reason(table_.cluster(), ask_,
               {.code = ReasonCode::session_preempts,
                .arguments = {all.size(), lower_than(divided()), ask_.session->resource_group,
                              SessionCandidates::order_reason(table_.group_of(entry_).order)}});
  }

 private:
  bool divided() const { return entry_.partition.exists(); }
  void add(SessionIndex index);
  void explain_cause(SessionIndex index, PlanVictim& victim) const;
  void explain_spared();

  World& world_;
  const SessionTable& table_;
  const SessionCandidates& order_;
  const SessionVictims& victims_;
  const SessionEntry& entry_;
  std::span<const SessionIndex> candidates_;
  PlanAsk& ask_;
  IndexedVector<SessionIndex, std::uint8_t> leaves_;
};

void VictimExplainer::add(SessionIndex index) {
  const SessionEntry& entry = table_.sessions()[index];
  const Session& session = *entry.object;
  const std::vector<std::string> nodes = nodes_of(table_, entry);
  PlanVictim victim;
  victim.namespace_name = session.namespace_name;
  victim.plane = session.plane;
  victim.name = session.name;
  victim.uid = session.uid;
  victim.node = joined(nodes);
  victim.unit = session_text(entry);
  victim.priority = entry.priority;
  victim.reason = write_text(
      table_.cluster(),
      divided() ? Reason{.code = ReasonCode::lower_tier, .arguments = {entry.tier, entry_.tier}}
                : Reason{.code = ReasonCode::lower_priority,
                         .arguments = {entry.priority, entry_.priority}});
  victim.cost = cost_of(table_, entry);
  explain_cause(index, victim);
  ask_.cost = sum(ask_.cost, victim.cost);
  ask_.victims.push_back(std::move(victim));

  const Partition* const partition = table_.partition_of(entry);
  PlanSessionVictim fate{.namespace_name = session.namespace_name,
                         .name = session.name,
                         .plane = session.plane,
                         .tier = entry.tier,
                         .nodes = nodes,
                         .fate = victims_.fate(index),
                         .ends_at = table_.now(),
                         .resume_after = {},
                         .preemptions = session.status.preemptions + 1};
  if (partition != nullptr && fate.fate != SessionFate::suspends) {
    fate.ends_at = table_.now() + partition->grace_time;
  }
  if (fate.fate == SessionFate::requeues) {
    fate.resume_after =
        fate.ends_at + backoff_after(world_.configuration().session, fate.preemptions);
  }
  ask_.session->victims.push_back(std::move(fate));
}

/// The next in the order that stays; else one before it that was put back; else there was no
/// choice.
void VictimExplainer::explain_cause(SessionIndex index, PlanVictim& victim) const {
  const SessionGroup& group = table_.group_of(entry_);
  victim.cause_for = session_text(entry_);
  const Cluster& cluster = table_.cluster();
  victim.cause_rule =
      write_text(cluster, {.code = ReasonCode::session_rule,
                           .arguments = {lower_than(divided()), group.object->name,
                                         SessionCandidates::order_reason(group.order)}});
  const auto own = std::ranges::find(candidates_, index);
  const auto stays = [this](SessionIndex other) { return leaves_[other] == 0; };
  const auto next = std::find_if(own, candidates_.end(), stays);
  if (next != candidates_.end()) {
    victim.cause_alternative = session_text(table_.sessions()[*next]);
    victim.cause_key = write_text(cluster, order_.decided_by(index, *next));
    return;
  }
  const auto before = std::find_if(candidates_.begin(), own, stays);
  if (before != own) {
    victim.cause_alternative = session_text(table_.sessions()[*before]);
    victim.cause_key = write_text(cluster, {.code = ReasonCode::by_freed_room});
    return;
  }
  victim.cause_alternative = write_text(cluster, {.code = ReasonCode::no_other_session});
  victim.cause_key = write_text(cluster, {.code = ReasonCode::no_choice});
}

void VictimExplainer::explain_spared() {
  for (const SessionIndex candidate : std::views::reverse(candidates_)) {
    const SessionEntry& entry = table_.sessions()[candidate];
    if (leaves_[candidate] != 0) continue;
    ++ask_.explanation.spared_count;
    if (ask_.explanation.spared.size() == spared_max) continue;
    ask_.explanation.spared.push_back({.namespace_name = entry.object->namespace_name,
                                       .name = entry.object->name,
                                       .priority = entry.priority});
  }
}

}  // namespace

void explain_victims(World& world, const SessionTable& table, const SessionCandidates& order,
                     const SessionVictims& victims, const SessionEntry& entry,
                     std::span<const SessionIndex> candidates, PlanAsk& ask) {
  VictimExplainer(world, table, order, victims, entry, candidates, ask).explain();
}

}  // namespace makeway
