// Budgets against a plain one that asks every budget about every pod, one by one.
#include "engine/budgets.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "base/prng.hpp"
#include "model/normalize.hpp"
#include "model/selector.hpp"
#include "support/plan_scene.hpp"

namespace makeway {
namespace {

class PlainBudgets {
 public:
  explicit PlainBudgets(const Cluster& cluster) : cluster_(cluster), budgets_(cluster.budgets()) {
    for (const DisruptionBudget* const budget : budgets_) {
      committed_.push_back(budget->disruptions_allowed.value_or(0));
    }
    left_ = committed_;
  }

  std::vector<std::size_t> counting(PodIndex pod) const {
    const Pod object = cluster_.pod(pod);
    std::vector<std::size_t> all;
    for (std::size_t at = 0; at < budgets_.size(); ++at) {
      if (budgets_[at]->namespace_name == object.namespace_name &&
          governs(*budgets_[at], object.namespace_name, object.labels) &&
          !std::ranges::binary_search(budgets_[at]->disrupted_pods, object.name)) {
        all.push_back(at);
      }
    }
    return all;
  }
  bool exhausted(PodIndex pod) const {
    return std::ranges::any_of(counting(pod),
                               [&](std::size_t budget) { return committed_[budget] <= 0; });
  }
  void start_trial() { left_ = committed_; }
  bool charge(PodIndex pod) {
    return std::ranges::any_of(counting(pod),
                               [&](std::size_t budget) { return --left_[budget] < 0; });
  }
  bool charge_all(std::span<const PodIndex> pods) {
    const std::vector<std::int64_t> before = left_;
    bool violates = false;
    for (const PodIndex pod : pods) {
      for (const std::size_t budget : counting(pod)) violates = --left_[budget] < 0 || violates;
    }
    if (violates) left_ = before;
    return !violates;
  }
  std::string violated(PodIndex pod) const {
    std::vector<std::string> names;
    const std::vector<std::size_t> all = counting(pod);
    for (const std::size_t budget : all) {
      if (left_[budget] < (names.empty() ? 0 : 1)) names.push_back(name(budget));
    }
    if (!names.empty()) return fmt::format("{}", fmt::join(names, ", "));
    const auto least = std::ranges::min_element(all, {}, [&](std::size_t at) { return left_[at]; });
    return least == all.end() ? std::string{} : name(*least);
  }
  void commit(std::span<const PodIndex> pods) {
    start_trial();
    for (const PodIndex pod : pods) charge(pod);
    committed_ = left_;
  }
  const std::vector<std::int64_t>& committed() const { return committed_; }
  void restore(const std::vector<std::int64_t>& committed) { left_ = committed_ = committed; }

 private:
  std::string name(std::size_t budget) const {
    return fmt::format("{}/{}", budgets_[budget]->namespace_name, budgets_[budget]->name);
  }

  const Cluster& cluster_;
  std::vector<const DisruptionBudget*> budgets_;
  std::vector<std::int64_t> committed_;
  std::vector<std::int64_t> left_;
};

constexpr std::size_t pod_count = 12;

void fill(Cluster& cluster, Prng& prng) {
  cluster.apply(scene::node("n1", 1'000));
  const auto label = [&] { return fmt::format("v{}", prng.below(5)); };
  for (std::size_t at = 0; at < pod_count; ++at) {
    Pod pod = scene::pod(fmt::format("p{:02}", at), "n1", 0, 1);
    pod.namespace_name = prng.chance(70) ? "a" : "b";
    if (!prng.chance(10)) pod.labels = {{"app", label()}};
    normalize(pod);
    cluster.apply(pod);
  }
  const std::size_t count = 1 + prng.below(12);
  for (std::size_t at = 0; at < count; ++at) {
    Requirement wanted{.key = "app", .operation = Operator::not_in, .values = {label()}};
    if (prng.chance(30)) wanted.operation = Operator::in;
    DisruptionBudget budget{.namespace_name = prng.chance(70) ? "a" : "b",
                            .name = fmt::format("b{:02}", at),
                            .selector = LabelSelector{{wanted}},
                            .disruptions_allowed = static_cast<std::int32_t>(prng.below(4))};
    if (prng.chance(30)) budget.disrupted_pods = {fmt::format("p{:02}", prng.below(pod_count))};
    normalize(budget);
    cluster.apply(budget);
  }
}

/// What the search bounds violations with: over all choices of pods the largest excess is the same.
void expect_same_bound(Budgets& budgets, const PlainBudgets& plain,
                       const std::vector<PodIndex>& pods, std::uint64_t chosen) {
  Budgets::Among among;
  budgets.among(pods, among);
  std::vector<std::int64_t> left = among.allowed;
  std::vector<std::int64_t> plain_left = plain.committed();
  std::int64_t least = CountTree::nothing;
  std::int64_t plain_least = CountTree::nothing;
  for (std::size_t at = 0; at < pods.size(); ++at) {
    ASSERT_EQ(among.of(at).empty(), plain.counting(pods[at]).empty());
    if ((chosen >> at & 1U) == 0) continue;
    for (const std::uint32_t number : among.of(at)) least = std::min(least, --left[number]);
    for (const std::size_t budget : plain.counting(pods[at])) {
      plain_least = std::min(plain_least, --plain_left[budget]);
    }
  }
  ASSERT_EQ(least, plain_least);
}

class Walk {
 public:
  explicit Walk(std::uint64_t seed) : prng_(seed) {
    fill(cluster_, prng_);
    survey_.emplace(cluster_, configuration_);
    budgets_.emplace(*survey_);
    plain_.emplace(cluster_);
    for (const PodIndex pod : cluster_.each_pod()) pods_.push_back(pod);
  }

  void step() {
    const PodIndex pod = prng_.pick(pods_);
    std::vector<PodIndex> some;
    for (const PodIndex each : pods_) {
      if (prng_.chance(25)) some.push_back(each);
    }
    switch (prng_.below(8)) {
      case 0:
        budgets_->start_trial();
        plain_->start_trial();
        break;
      case 1:
      case 2:
        ASSERT_EQ(budgets_->charge(pod), plain_->charge(pod));
        ASSERT_EQ(budgets_->violated(pod), plain_->violated(pod));
        break;
      case 3: ASSERT_EQ(budgets_->charge_all(some), plain_->charge_all(some)); break;
      case 4: ASSERT_EQ(budgets_->exhausted(pod), plain_->exhausted(pod)); break;
      case 5:
        budgets_->commit(some);
        plain_->commit(some);
        break;
      case 6: suppose(some); break;
      default: expect_same_bound(*budgets_, *plain_, pods_, prng_.below(1U << pod_count));
    }
  }

 private:
  void suppose(const std::vector<PodIndex>& some) {
    const std::vector<std::int64_t> before = plain_->committed();
    {
      const Budgets::Supposition supposition(*budgets_);
      budgets_->commit(some);
      plain_->commit(some);
      ASSERT_EQ(budgets_->charge_all(some), plain_->charge_all(some));
    }
    plain_->restore(before);
  }

  Prng prng_;
  Cluster cluster_;
  Configuration configuration_;
  std::optional<Survey> survey_;
  std::optional<Budgets> budgets_;
  std::optional<PlainBudgets> plain_;
  std::vector<PodIndex> pods_;
};

TEST(Budgets, SayWhatPlainOnesSay) {
  for (std::uint64_t seed = 1; seed <= 400; ++seed) {
    SCOPED_TRACE(fmt::format("seed={}", seed));
    Walk walk(seed);
    for (int step = 0; step < 60; ++step) {
      walk.step();
      if (testing::Test::HasFatalFailure()) return;
    }
  }
}

}  // namespace
}  // namespace makeway
