#include "kube/change_mailbox.hpp"

#include <chrono>
#include <utility>
#include <variant>

namespace makeway::kube {

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

void ChangeMailbox::put(DaemonSetNews news) {
  {
    const std::scoped_lock lock(mutex_);
    daemon_sets_[{std::move(news.namespace_name), std::move(news.name)}] = news.exists;
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

void ChangeMailbox::put(DeploymentNews news) {
  {
    const std::scoped_lock lock(mutex_);
    std::pair name(news.namespace_name, news.name);
    deployments_.insert_or_assign(std::move(name), std::move(news));
  }
  changed();
}

void ChangeMailbox::put(AutoscalerNews news) {
  {
    const std::scoped_lock lock(mutex_);
    std::pair name(news.namespace_name, news.name);
    autoscalers_.insert_or_assign(std::move(name), std::move(news));
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
    taken.news.kubelet_refusals.swap(kubelet_refusals_);
    for (auto& [name, news] : deployments_) {
      taken.plane_news.deployments.push_back(std::move(news));
    }
    for (auto& [name, news] : autoscalers_) {
      taken.plane_news.autoscalers.push_back(std::move(news));
    }
    deployments_.clear();
    autoscalers_.clear();
  }
  for (const auto& [name, exists] : daemon_sets) {
    taken.news.daemon_sets.push_back(
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

}  // namespace makeway::kube
