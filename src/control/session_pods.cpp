#include "control/session_pods.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <variant>

#include "model/request.hpp"

namespace makeway {
namespace {

bool holds_room(const Session& session) {
  return session.status.phase == SessionPhase::running ||
         session.status.phase == SessionPhase::suspended;
}

bool lacks_template(const Session& session) {
  return std::ranges::any_of(session.kernels,
                             [](const Kernel& kernel) { return kernel.pod_template.empty(); });
}

}  // namespace

std::string kernel_pod_name(std::string_view session, std::string_view kernel,
                            std::int64_t preemptions) {
  return fmt::format("{}-{}-{}", session, kernel, preemptions);
}

bool is_of_session(const Pod& pod) {
  return std::ranges::any_of(pod.owners, [](const OwnerReference& owner) {
    return owner.controller && owner.kind == "Session";
  });
}

bool is_about_session(const PlanAction& action) {
  const bool is_kernel = action.name.find('/') != std::string::npos;
  const bool is_own_type = action.type == ActionType::requeue ||
                           action.type == ActionType::suspend || action.type == ActionType::resume;
  // An eviction of a pod names its node; the end of a session's grace time names none.
  const bool ends = action.type == ActionType::evict && action.node.empty();
  return is_kernel || is_own_type || ends || (action.ask && action.ask->kind == RefKind::session);
}

const PlanSessionVictim* session_victim(const Plan& plan, const PlanAction& action) {
  for (const PlanAsk& ask : plan.asks) {
    if (!ask.session || ref_of(ask) != action.ask) continue;
    for (const PlanSessionVictim& victim : ask.session->victims) {
      const bool is_it =
          victim.name == action.name && victim.namespace_name == action.namespace_name;
      if (is_it) return &victim;
    }
  }
  return nullptr;
}

std::vector<Change> SessionPods::show(std::vector<Change> changes) {
  const auto concerns = [this](const Change& change) {
    if (std::holds_alternative<Session>(change)) return true;
    if (const auto* const pod = std::get_if<Pod>(&change)) {
      const bool is_known = is_of_session(*pod) || pods_.contains({pod->namespace_name, pod->name});
      return is_known && pod->plane.empty();
    }
    const auto* const gone = std::get_if<Removal>(&change);
    return gone != nullptr && gone->plane.empty() && !(pods_.empty() && sessions_.empty());
  };
  if (std::ranges::none_of(changes, concerns)) return changes;
  std::vector<Change> shown;
  shown.reserve(changes.size());
  for (Change& change : changes) {
    if (!concerns(change)) {
      shown.push_back(std::move(change));
    } else if (auto* const session = std::get_if<Session>(&change)) {
      take_session(std::move(*session), shown);
    } else if (auto* const pod = std::get_if<Pod>(&change)) {
      take_pod(std::move(*pod), shown);
    } else {
      take_removal(std::get<Removal>(change), shown);
    }
  }
  return shown;
}

void SessionPods::take_session(Session session, std::vector<Change>& shown) {
  const Name key(session.namespace_name, session.name);
  std::set<Name>& names = sessions_[key];
  std::set<Name> touched = std::move(names);
  names.clear();
  for (const Name& name : touched) rows_.erase(name);
  const auto add = [&](const Kernel& kernel, std::int64_t preemptions) {
    const Name name(key.first, kernel_pod_name(key.second, kernel.name, preemptions));
    rows_[name] = {.owner = session.uid, .node = kernel.node};
    names.insert(name);
    touched.insert(name);
  };
  for (const Kernel& kernel : session.kernels) {
    if (!holds_room(session) || kernel.node.empty()) continue;
    add(kernel, session.status.preemptions);
    // A preemption is counted already while its pods, which are those of the time before, leave.
    if (session.status.ends_at) add(kernel, session.status.preemptions - 1);
  }
  const bool is_held = !holds_room(session) && lacks_template(session);
  if (!is_held) {
    held_.erase(key);
    shown.emplace_back(std::move(session));
  } else if (held_.insert(key).second) {
    shown.emplace_back(
        Removal{.kind = ObjectKind::session, .namespace_name = key.first, .name = key.second});
  }
  look_at(touched, shown);
}

void SessionPods::take_pod(Pod pod, std::vector<Change>& shown) {
  const Name key(pod.namespace_name, pod.name);
  if (!is_of_session(pod)) {  // It was, under this name.
    pods_.erase(key);
    shown.emplace_back(std::move(pod));
    return;
  }
  Known& known = pods_[key];
  known.pod = std::move(pod);
  if (known.is_shown && !is_hidden(known.pod)) {
    shown.emplace_back(known.pod);
  } else {
    look_at({key}, shown);
  }
}

void SessionPods::take_removal(const Removal& gone, std::vector<Change>& shown) {
  const Name key(gone.namespace_name, gone.name);
  if (gone.kind == ObjectKind::session) {
    held_.erase(key);
    shown.emplace_back(gone);
    const auto found = sessions_.find(key);
    if (found == sessions_.end()) return;
    const std::set<Name> touched = std::move(found->second);
    sessions_.erase(found);
    for (const Name& name : touched) rows_.erase(name);
    return look_at(touched, shown);
  }
  const auto known = gone.kind == ObjectKind::pod ? pods_.find(key) : pods_.end();
  if (known == pods_.end() || known->second.is_shown) shown.emplace_back(gone);
  if (known != pods_.end()) pods_.erase(known);
}

bool SessionPods::is_hidden(const Pod& pod) const {
  if (pod.node.empty()) return true;
  const auto row = rows_.find({pod.namespace_name, pod.name});
  if (row == rows_.end() || row->second.node != pod.node) return false;
  return std::ranges::any_of(pod.owners, [&](const OwnerReference& owner) {
    return owner.controller && owner.uid == row->second.owner;
  });
}

void SessionPods::look_at(const std::set<Name>& pods, std::vector<Change>& shown) {
  for (const Name& name : pods) {
    const auto found = pods_.find(name);
    if (found == pods_.end()) continue;
    Known& known = found->second;
    const bool is_hidden_now = is_hidden(known.pod);
    if (is_hidden_now != known.is_shown) continue;
    known.is_shown = !is_hidden_now;
    if (known.is_shown) {
      shown.emplace_back(known.pod);
    } else {
      shown.emplace_back(
          Removal{.kind = ObjectKind::pod, .namespace_name = name.first, .name = name.second});
    }
  }
}

}  // namespace makeway
