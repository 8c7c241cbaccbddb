// Sessions in a plan: whose kernels come and go, so that the worlds of other asks are right.
#include <algorithm>

#include "judge/check_plan_walk.hpp"

namespace makeway {
namespace {

std::vector<KernelRows> rows_of(const Cluster& cluster, const std::string& namespace_name,
                                const std::string& name) {
  const auto found = cluster.kernel_rows().find({namespace_name, name});
  return found == cluster.kernel_rows().end() ? std::vector<KernelRows>{} : found->second;
}

/// Those of the kernel itself, and of its memory unless that stays where it is.
std::vector<PodIndex> moving(const KernelRows& rows, bool memory_stays) {
  std::vector<PodIndex> found = {rows.row};
  if (rows.memory.exists() && !memory_stays) found.push_back(rows.memory);
  return found;
}

}  // namespace

std::optional<HeardAsk> find_session(const Cluster& cluster, const PlanAsk& entry) {
  const auto& sessions = cluster.own<Session>();
  const auto own = sessions.find({entry.namespace_name, entry.name});
  if (own == sessions.end() || !entry.session) return std::nullopt;
  HeardAsk heard{.entry = &entry, .text = ask_text(entry)};
  heard.session = true;
  heard.priority = entry.priority;
  const std::vector<KernelRows> rows = rows_of(cluster, entry.namespace_name, entry.name);
  for (const KernelRows& each : rows) {
    for (const PodIndex row : moving(each, false)) heard.pods.push_back(row);
  }
  for (const PodPlacement& placement : entry.placements) {
    const auto node = cluster.find_node(placement.node);
    for (std::size_t at = 0; at < rows.size() && node; ++at) {
      if (placement.name != entry.name + "/" + own->second.kernels[at].name) continue;
      for (const PodIndex row : moving(rows[at], entry.session->runs_on)) {
        heard.rows_coming.push_back({.row = row, .node = *node});
      }
    }
  }
  for (const PlanSessionVictim& victim : entry.session->victims) {
    for (const KernelRows& each : rows_of(cluster, victim.namespace_name, victim.name)) {
      for (const PodIndex row : moving(each, victim.fate == SessionFate::suspends)) {
        heard.rows_leaving.push_back(row);
      }
    }
  }
  return heard;
}

bool concerns_session(const PlanAction& action) {
  const bool kernel = action.name.find('/') != std::string::npos;
  const bool own_type = action.type == ActionType::requeue || action.type == ActionType::suspend ||
                        action.type == ActionType::resume;
  // Of pods it says where they run; of a session whose grace time is over it does not.
  const bool ends = action.type == ActionType::evict && action.node.empty();
  return kernel || own_type || ends || (action.ask && action.ask->kind == RefKind::session);
}

void PlanWalk::settle_session(const HeardAsk& ask) {
  for (const PodIndex row : ask.rows_leaving) {
    if (!cluster_.pods().node[row].exists()) continue;  // It does not run, and that is a breach.
    victims_.insert(row);
    victim_nodes_.insert(cluster_.pods().node[row]);
    if (gone_.insert(row).second) own_after().remove(row);
  }
  std::vector<Place> coming;
  for (const HeardAsk::RowPlace& place : ask.rows_coming) {
    if (after().where(place.row).exists()) continue;
    coming.push_back({.pod = place.row, .node = place.node});
  }
  if (ask.entry->outcome == Outcome::fits) {
    for (const Place& place : coming) {
      now_.place(place.pod, place.node);
      if (after_) after_->place(place.pod, place.node);
    }
  } else {
    nominate(ask, coming);
  }
  decided_.insert(ask.pods.begin(), ask.pods.end());
}

}  // namespace makeway
