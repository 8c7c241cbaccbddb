#include "kube/live_feed.hpp"

#include <algorithm>
#include <utility>

namespace makeway::kube {

LiveFeed::LiveFeed(std::unique_ptr<Connection> connection,
                   const std::vector<ServedResource>& served, std::uint64_t jitter_seed,
                   const WatchLimits& limits, FeedUse use, std::string plane)
    : connection_(std::move(connection)),
      objects_(
          [this](Change change, std::optional<ObjectSight> sight) {
            mailbox_.put(std::move(change), std::move(sight));
          },
          [this](const ServedResource& failed, const ApiError& error) {
            const std::scoped_lock lock(missing_mutex_);
            missing_.insert_or_assign(failed.resource->plural, error);
          },
          use,
          {.daemon_set = [this](DaemonSetNews news) { mailbox_.put(std::move(news)); },
           .refusal = [this](KubeletRefusal refusal) { mailbox_.put(std::move(refusal)); },
           .deployment = [this](DeploymentNews news) { mailbox_.put(std::move(news)); },
           .autoscaler = [this](AutoscalerNews news) { mailbox_.put(std::move(news)); }},
          std::move(plane)) {
  connection_->http().keep_apart();
  // Whoever asked what is served has heard the time.
  if (const auto seen = connection_->http().date()) server_time_.note(seen->date, seen->monotonic);
  const bool has_sessions = std::ranges::any_of(
      served, [](const ServedResource& each) { return each.resource->plural == "sessions"; });
  watches_.reserve(served.size());
  for (const ServedResource& each : served) {
    if (!is_watched(*each.resource, use)) continue;
    const ServedResource watched{.resource = &watched_instead(*each.resource, use, has_sessions),
                                 .version = each.version};
    watches_.push_back(std::make_unique<ResourceWatch>(
        connection_->api(), watched, objects_, Prng(jitter_seed + watches_.size()), limits));
  }
  thread_ = std::thread([this] { run(); });
}

LiveFeed::~LiveFeed() {
  stops_ = true;
  connection_->http().wake();
  thread_.join();
}

void LiveFeed::run() {
  constexpr std::int64_t step_ms = 1'000;
  while (!stops_) {
    const Time now = monotonic_now();
    std::int64_t wait_ms = step_ms;
    for (const std::unique_ptr<ResourceWatch>& watch : watches_) {
      watch->tick(now);
      if (const auto due = watch->due_at()) {
        wait_ms = std::clamp<std::int64_t>((*due - now).ms, 0, wait_ms);
      }
    }
    look();
    connection_->http().work(Duration{wait_ms});
  }
}

/// What others may know of the watches.
void LiveFeed::look() {
  if (const auto seen = connection_->http().date()) server_time_.note(seen->date, seen->monotonic);
  std::uint64_t lists = 0;
  std::size_t kinds_seen = 0;
  for (const std::unique_ptr<ResourceWatch>& watch : watches_) {
    lists += watch->lists();
    if (!watch->sees()) continue;
    ++kinds_seen;
    const std::scoped_lock lock(missing_mutex_);
    missing_.erase(watch->served().resource->plural);
  }
  lists_ = lists;
  failures_ = objects_.failures();
  refused_ = objects_.refused();
  kinds_seen_ = kinds_seen;
  // Whoever is told of sight finds all that it shows in the mailbox.
  const bool sees_all = kinds_seen == watches_.size();
  if (sees_all_.exchange(sees_all) != sees_all) mailbox_.wake();
}

std::vector<MissingSight> LiveFeed::missing() const {
  const std::scoped_lock lock(missing_mutex_);
  std::vector<MissingSight> all;
  all.reserve(missing_.size());
  for (const auto& [resource, error] : missing_) {
    all.push_back({.resource = resource, .error = error});
  }
  return all;
}

SightTrouble LiveFeed::trouble() const {
  const std::vector<MissingSight> all = missing();
  if (all.empty() || kinds_seen_ + all.size() < watches_.size()) return SightTrouble::none;
  const bool hopeless = std::ranges::any_of(all, [](const MissingSight& each) {
    return each.error.failure == Failure::forbidden || each.error.failure == Failure::credentials;
  });
  return hopeless ? SightTrouble::hopeless : SightTrouble::passing;
}

FeedStatistics LiveFeed::statistics() const {
  return {.lists = lists_,
          .failures = failures_,
          .refused = refused_,
          .kinds = watches_.size(),
          .kinds_seen = kinds_seen_};
}

}  // namespace makeway::kube
