#include "kube/live_feed.hpp"

#include <algorithm>
#include <utility>

namespace makeway::kube {

LiveFeed::LiveFeed(std::unique_ptr<Connection> connection, std::uint64_t jitter_seed,
                   const WatchLimits& limits, FeedUse use, std::string plane)
    : connection_(std::move(connection)),
      jitter_seed_(jitter_seed),
      limits_(limits),
      use_(use),
      objects_(
          [this](Change change, std::optional<ObjectState> seen_object) {
            mailbox_.put(std::move(change), std::move(seen_object));
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
          std::move(plane)) {}

LiveFeed::LiveFeed(std::unique_ptr<Connection> connection,
                   const std::vector<ServedResource>& served, std::uint64_t jitter_seed,
                   const WatchLimits& limits, FeedUse use, std::string plane)
    : LiveFeed(std::move(connection), jitter_seed, limits, use, std::move(plane)) {
  // The question what is served has brought the server's time.
  if (const auto seen = connection_->http().date()) server_time_.note(seen->date, seen->monotonic);
  watch(served);
  thread_ = std::thread([this] { run(); });
}

LiveFeed::LiveFeed(std::unique_ptr<Connection> connection, Choose choose, std::uint64_t jitter_seed,
                   const WatchLimits& limits, FeedUse use, std::string plane)
    : LiveFeed(std::move(connection), jitter_seed, limits, use, std::move(plane)) {
  choose_ = std::move(choose);
  thread_ = std::thread([this] { run(); });
}

LiveFeed::~LiveFeed() {
  stops_ = true;
  connection_->http().give_up();
  if (thread_.joinable()) thread_.join();
}

void LiveFeed::watch(const std::vector<ServedResource>& served) {
  connection_->http().keep_apart();
  const bool has_sessions = std::ranges::any_of(
      served, [](const ServedResource& each) { return each.resource->plural == "sessions"; });
  watches_.reserve(served.size());
  for (const ServedResource& each : served) {
    if (!is_watched(*each.resource, use_)) continue;
    const ServedResource watched{.resource = &watched_instead(*each.resource, use_, has_sessions),
                                 .version = each.version};
    watches_.push_back(std::make_unique<ResourceWatch>(
        connection_->api(), watched, objects_, Prng(jitter_seed_ + watches_.size()), limits_));
  }
  kinds_ = watches_.size();
}

void LiveFeed::ask_what_is_served() {
  constexpr std::string_view all_kinds = "apis";
  for (std::int64_t failures = 1; !stops_; ++failures) {
    const auto served = connection_->api().discover();
    if (stops_) return;
    if (served || served.error().failure == Failure::forbidden) {
      {
        const std::scoped_lock lock(missing_mutex_);
        missing_.erase(all_kinds);
      }
      return watch(choose_(served ? *served : std::vector<ServedResource>{}));
    }
    {
      const std::scoped_lock lock(missing_mutex_);
      missing_.insert_or_assign(all_kinds, served.error());
    }
    const Time until = monotonic_now() + limits_.pause.after(failures);
    for (Time now = monotonic_now(); now < until && !stops_; now = monotonic_now()) {
      connection_->http().work(until - now);
    }
  }
}

void LiveFeed::run() {
  constexpr std::int64_t step_ms = 1'000;
  if (choose_) ask_what_is_served();
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
  // Before the flag is set, all that the watches show is in the mailbox.
  const bool sees_all = kinds_seen == watches_.size();
  if (sees_all_.exchange(sees_all) != sees_all) mailbox_.wake();
}

std::vector<MissingWatch> LiveFeed::missing() const {
  const std::scoped_lock lock(missing_mutex_);
  std::vector<MissingWatch> all;
  all.reserve(missing_.size());
  for (const auto& [resource, error] : missing_) {
    all.push_back({.resource = resource, .error = error});
  }
  return all;
}

WatchTrouble LiveFeed::trouble() const {
  const std::vector<MissingWatch> all = missing();
  if (all.empty() || kinds_seen_ + all.size() < kinds_) return WatchTrouble::none;
  const bool permanent = std::ranges::any_of(all, [](const MissingWatch& each) {
    return each.error.failure == Failure::forbidden || each.error.failure == Failure::credentials;
  });
  return permanent ? WatchTrouble::permanent : WatchTrouble::passing;
}

FeedStatistics LiveFeed::statistics() const {
  return {.lists = lists_,
          .failures = failures_,
          .refused = refused_,
          .kinds = kinds_,
          .kinds_seen = kinds_seen_};
}

}  // namespace makeway::kube
