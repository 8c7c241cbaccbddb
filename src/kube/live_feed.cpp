#include "kube/live_feed.hpp"

#include <algorithm>
#include <chrono>
#include <utility>
#include <variant>

namespace makeway::kube {

// ---- The mailbox --------------------------------------------------------------------------------

void ChangeMailbox::put(Change change, std::optional<ObjectState> seen_object) {
  ChangeKey key = key_of_change(change);
  const bool is_removal = std::holds_alternative<Removal>(change);
  {
    const std::scoped_lock lock(mutex_);
    const auto [at, is_new] = entries_.try_emplace(std::move(key));
    Entry& entry = at->second;
    const bool comes_again = !is_removal && !is_new &&
                             (entry.was_removed || std::holds_alternative<Removal>(entry.newest));
    entry.was_removed = comes_again;
    const auto* const before = std::get_if<Pod>(&entry.newest);
    if (is_removal && !is_new && before != nullptr && before->disrupted_by_preemption) {
      entry.marked = *before;
    }
    entry.newest = std::move(change);
    entry.seen_object = std::move(seen_object);
  }
  changed();
}

void ChangeMailbox::put(DaemonSetUpdate update) {
  {
    const std::scoped_lock lock(mutex_);
    daemon_sets_[{std::move(update.namespace_name), std::move(update.name)}] = update.exists;
  }
  changed();
}

void ChangeMailbox::put(KubeletRefusal refusal) {
  {
    const std::scoped_lock lock(mutex_);
    if (kubelet_refusals_.size() < refusals_max) kubelet_refusals_.push_back(std::move(refusal));
  }
  changed();
}

void ChangeMailbox::put(DeploymentUpdate update) {
  {
    const std::scoped_lock lock(mutex_);
    std::pair name(update.namespace_name, update.name);
    deployments_.insert_or_assign(std::move(name), std::move(update));
  }
  changed();
}

void ChangeMailbox::put(AutoscalerUpdate update) {
  {
    const std::scoped_lock lock(mutex_);
    std::pair name(update.namespace_name, update.name);
    autoscalers_.insert_or_assign(std::move(name), std::move(update));
  }
  changed();
}

void ChangeMailbox::changed() {
  changed_.notify_one();
  if (!forwards_changes_) return;
  std::function<void()> call;
  {
    const std::scoped_lock lock(mutex_);
    call = forward_;
  }
  if (call) call();
}

void ChangeMailbox::forward(std::function<void()> call) {
  const std::scoped_lock lock(mutex_);
  forward_ = std::move(call);
}

ChangeMailbox::Taken ChangeMailbox::take_all() {
  std::map<ChangeKey, Entry> entries;
  std::map<std::pair<std::string, std::string>, bool> daemon_sets;
  Taken taken;
  {
    const std::scoped_lock lock(mutex_);
    entries.swap(entries_);
    daemon_sets.swap(daemon_sets_);
    taken.updates.kubelet_refusals.swap(kubelet_refusals_);
    for (auto& [name, update] : deployments_)
      taken.plane_updates.deployments.push_back(std::move(update));
    for (auto& [name, update] : autoscalers_)
      taken.plane_updates.autoscalers.push_back(std::move(update));
    deployments_.clear();
    autoscalers_.clear();
  }
  for (const auto& [name, exists] : daemon_sets) {
    taken.updates.daemon_sets.push_back(
        {.namespace_name = name.first, .name = name.second, .exists = exists});
  }
  std::vector<Change>& changes = taken.changes;
  changes.reserve(entries.size());
  for (auto& [key, entry] : entries) {
    if (entry.marked) changes.emplace_back(std::move(*entry.marked));
    if (entry.was_removed) {
      const auto& [kind, plane, namespace_name, name] = key;
      changes.emplace_back(
          Removal{.kind = kind, .namespace_name = namespace_name, .name = name, .plane = plane});
    }
    changes.push_back(std::move(entry.newest));
    if (entry.seen_object) taken.objects_seen.push_back(std::move(*entry.seen_object));
  }
  return taken;
}

bool ChangeMailbox::wait(Duration at_most) {
  std::unique_lock lock(mutex_);
  changed_.wait_for(lock, std::chrono::milliseconds(at_most.ms),
                    [this] { return is_woken_ || !is_empty(); });
  is_woken_ = false;
  return !is_empty();
}

void ChangeMailbox::wait_for_wake(Duration at_most) {
  std::unique_lock lock(mutex_);
  changed_.wait_for(lock, std::chrono::milliseconds(at_most.ms), [this] { return is_woken_; });
  is_woken_ = false;
}

void ChangeMailbox::wake() {
  std::function<void()> call;
  {
    const std::scoped_lock lock(mutex_);
    is_woken_ = true;
    call = forward_;
  }
  changed_.notify_all();
  if (call) call();
}

// ---- The feed -----------------------------------------------------------------------------------

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
          {.daemon_set = [this](DaemonSetUpdate update) { mailbox_.put(std::move(update)); },
           .refusal = [this](KubeletRefusal refusal) { mailbox_.put(std::move(refusal)); },
           .deployment = [this](DeploymentUpdate update) { mailbox_.put(std::move(update)); },
           .autoscaler = [this](AutoscalerUpdate update) { mailbox_.put(std::move(update)); }},
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
