#include "control/brakes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace makeway {
namespace {

constexpr Duration minute{60'000};

}  // namespace

Allowance& EvictionBrakes::allowance(std::map<std::string, Allowance>& of,
                                     const std::string& name) {
  return of
      .try_emplace(name, settings_.evictions_per_minute, minute, Allowance::Start::empty, start_)
      .first->second;
}

void EvictionBrakes::forget_old(Time now) {
  for (auto at = occasions_.begin(); at != occasions_.end();) {
    std::erase_if(at->second, [&](Time when) { return when + settings_.occasions_period <= now; });
    at = at->second.empty() ? occasions_.erase(at) : std::next(at);
  }
  std::erase_if(last_, [&](const auto& each) {
    return each.second.when + settings_.evict_again_window <= now;
  });
}

std::string EvictionBrakes::evicts_again(const EvictionWish& wish, Time now) {
  const auto found = last_.find(wish.ask);
  if (found == last_.end() || found->second.was_refused) return {};
  Last& last = found->second;
  if (!last.alarmed) ++alarms_;
  last.alarmed = true;
  return fmt::format("brake: {} made pods leave {} ago and needs others again; it waits for {}",
                     wish.ask, to_text(now - last.when),
                     to_text(last.when + settings_.evict_again_window - now));
}

void EvictionBrakes::refused(const std::string& ask, const std::string& plan) {
  const auto found = last_.find(ask);
  if (found != last_.end() && found->second.plan == plan) found->second.was_refused = true;
}

std::string EvictionBrakes::admit(const EvictionWish& wish, Time now) {
  std::map<std::string, std::int64_t> by_namespace;
  std::set<std::string> owners;
  for (const EvictionWish::Victim& victim : wish.victims) {
    ++by_namespace[victim.namespace_name];
    if (!victim.owner.empty()) owners.insert(victim.owner);
  }
  const std::int64_t most = settings_.evictions_per_minute;
  const auto count = static_cast<std::int64_t>(wish.victims.size());
  if (!allowance(profiles_, wish.profile).has(std::min(count, most), now)) {
    return fmt::format("brake: {} evictions a minute for profile {}", most, wish.profile);
  }
  for (const auto& [name, pods] : by_namespace) {
    if (allowance(namespaces_, name).has(std::min(pods, most), now)) continue;
    return fmt::format("brake: {} evictions a minute in namespace {}", most, name);
  }
  forget_old(now);
  if (std::string why = evicts_again(wish, now); !why.empty()) return why;
  for (const std::string& owner : owners) {
    const auto found = occasions_.find({wish.ask, owner});
    if (found == occasions_.end() || std::ssize(found->second) < settings_.occasions_max) continue;
    return fmt::format("brake: {} has taken pods of one owner {} times within {}", wish.ask,
                       settings_.occasions_max, to_text(settings_.occasions_period));
  }
  allowance(profiles_, wish.profile).spend(count, now);
  for (const auto& [name, pods] : by_namespace) allowance(namespaces_, name).spend(pods, now);
  for (const std::string& owner : owners) occasions_[{wish.ask, owner}].push_back(now);
  if (settings_.evict_again_window > Duration{}) last_[wish.ask] = {.plan = wish.plan, .when = now};
  return {};
}

}  // namespace makeway
