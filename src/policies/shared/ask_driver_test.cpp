// The order in which every ask is answered (SPEC laws 1, 6 and 7), with a strategy that only says
// which of its steps work.
#include "policies/shared/ask_driver.hpp"

#include <gtest/gtest.h>

#include "support/plan_scene.hpp"

namespace makeway {
namespace {

using Steps = std::vector<std::string>;

struct Scene {
  Cluster cluster;
  Configuration configuration;

  /// `late`: a pod of the only node takes an hour to leave.
  explicit Scene(bool late) {
    cluster.apply(scene::node("n1", 4));
    cluster.apply(scene::pod("ask", "", 5, 4));
    Pod slow = scene::pod("slow", "n1", 1, 4);
    slow.disrupted_by_preemption = true;
    if (late) slow.deletion = scene::now + Duration{3'600'000};
    cluster.apply(slow);
  }
  PodIndex at(const std::string& name) const { return *cluster.find_pod("default", name); }
};

class FakeAsk : public AskStrategy {
 public:
  FakeAsk(World& world, PodIndex late, std::string works)
      : world_(world), late_(late), works_(std::move(works)) {
    answer_.priority = 5;
    answer_.outcome = Outcome::not_found;
  }

  PlanAsk& answer() override { return answer_; }
  bool is_refused() override { return step("refused"); }
  bool fits_now() override { return step("now"); }
  bool fits_soon() override { return step("soon"); }
  bool is_held() override { return step("held"); }
  void preempt() override {
    answer_.bounds_reached = {"tried"};
    answer_.outcome = step("preempt") ? Outcome::preempts : Outcome::infeasible;
  }
  std::vector<NodeIndex> nominated_nodes() const override {
    if (!nominated) return {};
    return {world_.cluster().pods().node[late_]};
  }
  bool nomination_holds() override { return step("nomination"); }
  std::vector<PodIndex> useful_late_pods() override {
    step("useful");
    const bool credited = world_.late().empty();
    return useful && !credited ? std::vector{late_} : std::vector<PodIndex>{};
  }
  bool fits_late() override {
    late_was_gone = !world_.after().node_of(late_).exists();
    entry_was_undecided = answer_.bounds_reached.empty();
    if (!step("late")) return false;
    world_.await(std::vector{late_});
    answer_.outcome = Outcome::waits;
    return true;
  }

  Steps steps;
  bool nominated = false;
  bool useful = true;
  bool late_was_gone = false;
  bool entry_was_undecided = false;

 private:
  bool step(const std::string& name) {
    steps.push_back(name);
    return name == works_;
  }

  World& world_;
  PodIndex late_;
  std::string works_;
  PlanAsk answer_;
};

TEST(AskDriver, TheFirstStepThatWorksIsTheAnswer) {
  const Scene scene(false);
  const Steps order = {"refused", "now", "soon", "held", "preempt"};
  for (std::size_t at = 0; at < order.size(); ++at) {
    World world(scene.cluster, scene.configuration, scene::now);
    FakeAsk ask(world, scene.at("slow"), order[at]);
    drive_ask(world, ask);
    EXPECT_EQ(ask.steps, Steps(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(at) + 1));
  }
}

/// Law 6: the ask is tried without late pods first, and waits for them only if nothing is found.
TEST(AskDriver, LatePodsAreTheLastResort) {
  const Scene scene(true);
  World world(scene.cluster, scene.configuration, scene::now);
  FakeAsk ask(world, scene.at("slow"), "late");
  drive_ask(world, ask);
  EXPECT_EQ(ask.steps, (Steps{"refused", "now", "soon", "held", "preempt", "useful", "late"}));
  EXPECT_TRUE(ask.late_was_gone);
  EXPECT_TRUE(ask.entry_was_undecided);
  EXPECT_EQ(ask.answer().outcome, Outcome::waits);
  EXPECT_FALSE(world.after().node_of(scene.at("slow")).exists()) << "it belongs to the ask now";
}

TEST(AskDriver, LatePodsThatDoNotHelpReturn) {
  const Scene scene(true);
  World world(scene.cluster, scene.configuration, scene::now);
  FakeAsk ask(world, scene.at("slow"), "none");
  drive_ask(world, ask);
  EXPECT_EQ(ask.steps.back(), "late");
  EXPECT_EQ(ask.answer().bounds_reached, Steps{"tried"}) << "the answer of `preempt` stands";
  EXPECT_EQ(ask.answer().outcome, Outcome::not_found) << "late room proves nothing infeasible";
  EXPECT_TRUE(world.after().node_of(scene.at("slow")).exists());
}

TEST(AskDriver, UselessLatePodsProveWhatTheyProve) {
  const Scene scene(true);
  World world(scene.cluster, scene.configuration, scene::now);
  FakeAsk ask(world, scene.at("slow"), "none");
  ask.useful = false;
  drive_ask(world, ask);
  EXPECT_EQ(ask.steps.back(), "useful");
  EXPECT_EQ(ask.answer().outcome, Outcome::infeasible);
}

/// Law 6: victims of its own valid nomination are always credited.
TEST(AskDriver, ItsOwnLateVictimsAreCreditedFromTheBeginning) {
  const Scene scene(true);
  for (const bool holds : {true, false}) {
    World world(scene.cluster, scene.configuration, scene::now);
    FakeAsk ask(world, scene.at("slow"), holds ? "nomination" : "preempt");
    ask.nominated = true;
    drive_ask(world, ask);
    EXPECT_EQ(ask.steps.front(), "nomination");
    EXPECT_EQ(ask.answer().outcome, holds ? Outcome::infeasible : Outcome::preempts);
    // No ask waits for it after all.
    EXPECT_TRUE(world.after().node_of(scene.at("slow")).exists());
  }
}

}  // namespace
}  // namespace makeway
