// SharedList: a list that its copies have in common until one of them changes it. Fifty thousand
// replicas of one deployment get the same answer, with the same long lists in it.
#pragma once

#include <cstddef>
#include <initializer_list>
#include <memory>
#include <utility>
#include <vector>

namespace makeway {

template <class T>
class SharedList {
 public:
  SharedList() = default;
  SharedList(std::vector<T> items) {  // NOLINT: a list like any other.
    if (!items.empty()) items_ = std::make_shared<std::vector<T>>(std::move(items));
  }
  SharedList(std::initializer_list<T> items) : SharedList(std::vector<T>(items)) {}

  const std::vector<T>& items() const { return items_ == nullptr ? none() : *items_; }
  auto begin() const { return items().begin(); }
  auto end() const { return items().end(); }
  bool empty() const { return items().empty(); }
  std::size_t size() const { return items().size(); }
  const T& front() const { return items().front(); }

  /// For changes: no other copy shares the list from now on.
  std::vector<T>& edit() {
    if (items_ == nullptr) {
      items_ = std::make_shared<std::vector<T>>();
    } else if (items_.use_count() > 1) {
      items_ = std::make_shared<std::vector<T>>(*items_);
    }
    return *items_;
  }

  friend bool operator==(const SharedList& a, const SharedList& b) {
    return a.items_ == b.items_ || a.items() == b.items();
  }

 private:
  static const std::vector<T>& none() {
    static const std::vector<T> empty_list;
    return empty_list;
  }

  /// Shared by value only: a copy that is changed gets a list of its own.
  std::shared_ptr<std::vector<T>> items_;
};

}  // namespace makeway
