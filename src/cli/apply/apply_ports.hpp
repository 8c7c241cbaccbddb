// Two adapters between the loop of `makeway apply` and the cluster.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "kube/plan_carrier.hpp"

namespace makeway::cli {

/// A port on which nothing is decided until the user has confirmed; changes are read meanwhile.
class HeldPort final : public Port {
 public:
  /// It outlives this one.
  explicit HeldPort(Port& behind) : behind_(behind) {}

  void open() { is_open_ = true; }
  Batch poll(Time deadline) override {
    Batch batch = behind_.poll(deadline);
    batch.blind = batch.blind || !is_open_;
    return batch;
  }
  void submit(const Plan& plan) override { behind_.submit(plan); }

 private:
  Port& behind_;
  bool is_open_ = false;
};

/// Remembers the versions of the pods that a plan names, and passes all changes on to the writer.
class VersionCarrier final : public kube::PlanCarrier {
 public:
  using Key = std::pair<std::string, std::string>;  ///< Namespace and name.

  /// `behind` may be null: then nothing is written. It outlives this one.
  VersionCarrier(kube::PlanCarrier* behind, std::map<Key, std::string> planned)
      : behind_(behind), planned_(std::move(planned)) {}

  /// Pods with another version than planned: the planned one, and the current one.
  std::map<Key, std::pair<std::string, std::string>> moved() const {
    std::map<Key, std::pair<std::string, std::string>> moved;
    for (const auto& [key, version] : planned_) {
      const auto found = seen_.find(key);
      if (found != seen_.end() && found->second != version) moved[key] = {version, found->second};
    }
    return moved;
  }

  void carry_out(const Plan& plan) override {
    if (behind_ != nullptr) behind_->carry_out(plan);
  }
  std::vector<Receipt> take_receipts() override {
    return behind_ == nullptr ? std::vector<Receipt>{} : behind_->take_receipts();
  }
  void saw(const std::vector<Change>& changes, std::vector<ObjectState>&& states) override {
    for (const ObjectState& state : states) {
      Key key{state.namespace_name, state.name};
      if (state.kind == ObjectKind::pod && planned_.contains(key)) {
        seen_[std::move(key)] = state.version;
      }
    }
    if (behind_ != nullptr) behind_->saw(changes, std::move(states));
  }
  std::optional<Time> sending_since() const override {
    return behind_ == nullptr ? std::nullopt : behind_->sending_since();
  }
  std::size_t unsent() const override { return behind_ == nullptr ? 0 : behind_->unsent(); }

 private:
  kube::PlanCarrier* behind_;
  std::map<Key, std::string> planned_;
  std::map<Key, std::string> seen_;
};

}  // namespace makeway::cli
