#include "control/brakes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>
#include <variant>

#include "model/queue_findings.hpp"

namespace makeway {

namespace {

constexpr Duration minute{60'000};

std::map<std::string, std::int64_t> victims_by_namespace(const EvictionRequest& request) {
  std::map<std::string, std::int64_t> found;
  for (const EvictionRequest::Victim& victim : request.victims) ++found[victim.namespace_name];
  return found;
}

std::set<std::string> owners_of(const EvictionRequest& request) {
  std::set<std::string> owners;
  for (const EvictionRequest::Victim& victim : request.victims) {
    if (!victim.owner.empty()) owners.insert(victim.owner);
  }
  return owners;
}

BrakeAnswer held_back(Sentence why, Time until) {
  std::string text = why.text;
  return {.why = std::move(text), .until = until, .mentions = Mentions(std::move(why))};
}

/// It names no object but the ask, which is the one that shows it.
BrakeAnswer held_back(std::string why, Time until) {
  return held_back(Sentence{.text = std::move(why)}, until);
}

}  // namespace

Allowance& EvictionBrakes::of_profile(const std::string& name) {
  const std::int64_t most = settings_.of_profile(name);
  return profiles_.try_emplace(name, most, minute, Allowance::Start::empty, start_).first->second;
}

Allowance& EvictionBrakes::of_namespace(const std::string& name) {
  const std::int64_t most = settings_.evictions_per_minute;
  return namespaces_.try_emplace(name, most, minute, Allowance::Start::empty, start_).first->second;
}

/// Once a cycle: all asks of a plan have the same time.
void EvictionBrakes::forget_old(Time now) {
  if (std::exchange(forgotten_, now) == now) return;
  for (auto at = occasions_.begin(); at != occasions_.end();) {
    std::erase_if(at->second, [&](Time when) { return when + settings_.occasions_period <= now; });
    at = at->second.empty() ? occasions_.erase(at) : std::next(at);
  }
  std::erase_if(last_, [&](const auto& each) {
    return each.second.when + settings_.evict_again_window <= now;
  });
  std::erase_if(admitted_, [&](const auto& each) {
    return each.second.when + settings_.occasions_period <= now;
  });
  // One that is full is the same as one that was never used; namespaces come and go.
  std::erase_if(namespaces_, [&](const auto& each) {
    Allowance filled = each.second;
    return filled.has(settings_.evictions_per_minute, now);
  });
}

// ---- The brakes, one by one ---------------------------------------------------------------------

BrakeAnswer EvictionBrakes::over_allowance(const EvictionRequest& request, Time now) {
  const std::int64_t own = settings_.of_profile(request.profile);
  const std::int64_t victims = std::ssize(request.victims);
  const Duration by_profile = of_profile(request.profile).wait(std::min(victims, own), now);
  if (by_profile > Duration{}) {
    const std::string scope = request.profile.empty() ? "all" : "profile " + request.profile;
    return held_back(fmt::format("brake: {} evictions a minute for {}", own, scope),
                     now + by_profile);
  }
  const std::int64_t most = settings_.evictions_per_minute;
  for (const auto& [name, pods] : victims_by_namespace(request)) {
    const Duration by_namespace = of_namespace(name).wait(std::min(pods, most), now);
    if (by_namespace == Duration{}) continue;
    Sentence why{.text = fmt::format("brake: {} evictions a minute in ", most)};
    why.add_mention(MentionKind::namespace_name, name, fmt::format("namespace {}", name));
    return held_back(std::move(why), now + by_namespace);
  }
  return {};
}

BrakeAnswer EvictionBrakes::evicts_again(const EvictionRequest& request, Time now) {
  const auto found = last_.find(request.ask);
  if (request.rolls_back || request.is_claim) return {};
  if (found == last_.end() || found->second.was_refused) return {};
  Last& last = found->second;
  if (!last.alarmed) ++alarms_;
  last.alarmed = true;
  const Time until = last.when + settings_.evict_again_window;
  return held_back(
      fmt::format("brake: {} made pods leave {} ago and needs others again; it waits for {}",
                  ref_text(request.ask), to_text(now - last.when), to_text(until - now)),
      until);
}

BrakeAnswer EvictionBrakes::comes_back(const EvictionRequest& request) const {
  for (const std::string& owner : owners_of(request)) {
    const auto found = occasions_.find({request.ask, owner});
    if (found == occasions_.end() || std::ssize(found->second) < settings_.occasions_max) continue;
    return held_back(fmt::format("brake: {} has taken pods of one owner {} times within {}",
                                 ref_text(request.ask), settings_.occasions_max,
                                 to_text(settings_.occasions_period)),
                     found->second.front() + settings_.occasions_period);
  }
  return {};
}

// ---- What is counted ----------------------------------------------------------------------------

void EvictionBrakes::count(const EvictionRequest& request, Time now) {
  of_profile(request.profile).spend(std::ssize(request.victims), now);
  for (const auto& [name, pods] : victims_by_namespace(request)) {
    of_namespace(name).spend(pods, now);
  }
  for (const std::string& owner : owners_of(request))
    occasions_[{request.ask, owner}].push_back(now);
  admitted_.insert_or_assign({request.ask, request.plan},
                             Admitted{request.profile, now, request.victims});
  if (settings_.evict_again_window > Duration{} && !request.rolls_back) {
    last_[request.ask] = {.plan = request.plan, .when = now};
  }
}

BrakeAnswer EvictionBrakes::admit(const EvictionRequest& request, Time now) {
  if (request.victims.empty()) return {};
  // A gang that a process before us made leave in part is stopped already.
  if (!request.rolls_back && now < start_ + settings_.quiet_first) {
    return held_back(fmt::format("brake: no pod is evicted within {} of the start",
                                 to_text(settings_.quiet_first)),
                     start_ + settings_.quiet_first);
  }
  forget_old(now);
  // Nor is its rest kept by an allowance that is empty at the start: asks that are decided
  // meanwhile would evict others.
  if (BrakeAnswer over = over_allowance(request, now); !request.rolls_back && !over.why.empty()) {
    return over;
  }
  if (BrakeAnswer again = evicts_again(request, now); !again.why.empty()) return again;
  if (BrakeAnswer back = comes_back(request); !back.why.empty()) return back;
  count(request, now);
  return {};
}

void EvictionBrakes::forget_occasion(const AskAndText& ask_and_owner, Time when) {
  const auto found = occasions_.find(ask_and_owner);
  if (found == occasions_.end()) return;
  const auto at = std::ranges::find(found->second, when);
  if (at != found->second.end()) found->second.erase(at);
  if (found->second.empty()) occasions_.erase(found);
}

void EvictionBrakes::refused(const Receipt& receipt) {
  if (!receipt.ask) return;
  const auto last = last_.find(*receipt.ask);
  const bool is_last = last != last_.end() && last->second.plan == receipt.plan;
  if (is_last) last->second.was_refused = true;
  const auto found = admitted_.find({*receipt.ask, receipt.plan});
  if (found == admitted_.end() || receipt.uncertain) return;
  Admitted& admitted = found->second;
  const auto at = std::ranges::find_if(
      admitted.victims,
      [&](const EvictionRequest::Victim& victim) { return victim.object == receipt.object; });
  if (at == admitted.victims.end()) return;
  const EvictionRequest::Victim victim = std::move(*at);
  admitted.victims.erase(at);
  of_profile(admitted.profile).give_back(1);
  of_namespace(victim.namespace_name).give_back(1);
  const auto same_owner =
      std::ranges::count(admitted.victims, victim.owner, &EvictionRequest::Victim::owner);
  if (same_owner == 0) forget_occasion({*receipt.ask, victim.owner}, admitted.when);
  if (!admitted.victims.empty()) return;
  admitted_.erase(found);
  if (is_last) last_.erase(last);  // No pod left: it has not evicted at all.
}

// ---- Lost capacity ------------------------------------------------------------------------------

void LostCapacity::note(const std::vector<Change>& changes, Time now) {
  for (const Change& change : changes) {
    if (const auto* const node = std::get_if<Node>(&change)) {
      if (node->plane.empty()) note_node(*node, now);
      continue;
    }
    const auto* const gone = std::get_if<Removal>(&change);
    if (gone == nullptr || gone->kind != ObjectKind::node || !gone->plane.empty()) continue;
    offered_.erase(gone->name);
    std::erase_if(lost_, [&](const auto& each) { return each.first.first == gone->name; });
  }
}

void LostCapacity::note_node(const Node& node, Time now) {
  Amounts& before = offered_[node.name];
  for (const Amount& each : before) {
    const bool is_less = quota_in(node.allocatable, each.resource).value_or(0) < each.amount;
    if (is_less) lost_.try_emplace({node.name, each.resource}, Lost{each.amount, now});
  }
  std::erase_if(lost_, [&](const auto& each) {
    const auto& [key, lost] = each;
    return key.first == node.name && quota_in(node.allocatable, key.second).value_or(0) >= lost.had;
  });
  before = node.allocatable;
}

std::optional<LostCapacity::Loss> LostCapacity::newest(Time now) {
  std::erase_if(lost_, [&](const auto& each) { return each.second.since + grace_ <= now; });
  const auto found =
      std::ranges::max_element(lost_, {}, [](const auto& each) { return each.second.since; });
  if (found == lost_.end()) return std::nullopt;
  return Loss{.node = found->first.first,
              .resource = found->first.second,
              .since = found->second.since,
              .until = found->second.since + grace_};
}

}  // namespace makeway
