#include "kube/change_mailbox.hpp"

#include <chrono>
#include <utility>
#include <variant>

namespace makeway::kube {

ChangeMailbox::Key ChangeMailbox::key_of_change(const Change& change) {
  return std::visit(
      [](const auto& each) -> Key {
        using Each = std::decay_t<decltype(each)>;
        if constexpr (std::is_same_v<Each, Removal>) {
          return {each.kind, each.plane, each.namespace_name, each.name};
        } else {
          const ObjectKeyView key = key_of(each);
          return {row_of<Each>.kind, std::string(key.plane), std::string(key.namespace_name),
                  std::string(key.name)};
        }
      },
      change);
}

void ChangeMailbox::put(Change change, std::optional<ObjectSight> sight) {
  Key key = key_of_change(change);
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
    entry.sight = std::move(sight);
  }
  changed_.notify_one();
}

ChangeMailbox::Taken ChangeMailbox::take_all() {
  std::map<Key, Entry> entries;
  {
    const std::scoped_lock lock(mutex_);
    entries.swap(entries_);
  }
  Taken taken;
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
    if (entry.sight) taken.sights.push_back(std::move(*entry.sight));
  }
  return taken;
}

bool ChangeMailbox::wait(Duration at_most) {
  std::unique_lock lock(mutex_);
  changed_.wait_for(lock, std::chrono::milliseconds(at_most.ms),
                    [this] { return is_woken_ || !entries_.empty(); });
  is_woken_ = false;
  return !entries_.empty();
}

void ChangeMailbox::wait_for_wake(Duration at_most) {
  std::unique_lock lock(mutex_);
  changed_.wait_for(lock, std::chrono::milliseconds(at_most.ms), [this] { return is_woken_; });
  is_woken_ = false;
}

void ChangeMailbox::wake() {
  {
    const std::scoped_lock lock(mutex_);
    is_woken_ = true;
  }
  changed_.notify_all();
}

}  // namespace makeway::kube
