// Does a pod fit on a node, and which reason is given when it does not.
#include "engine/fit.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <optional>

#include "model/names.hpp"
#include "support/plan_scene.hpp"

namespace makeway {
namespace {

using scene::node;
using scene::nominated;
using scene::pod;

struct FitScene {
  Cluster cluster;
  Configuration configuration;

  template <class... Objects>
  explicit FitScene(const Objects&... objects) {
    (cluster.apply(objects), ...);
  }
  PodIndex at(const std::string& name) const { return *cluster.find_pod("default", name); }
  NodeIndex on(const std::string& name) const { return *cluster.find_node(name); }
};

/// "resource cpu 2", with ! for what no leaving pod could change; empty: it fits.
std::string text_of(const Survey& survey, const std::optional<Refused>& refused) {
  if (!refused) return "";
  std::string text(choice_name(refused->reason));
  if (const std::string_view detail = survey.text(refused->detail); !detail.empty()) {
    text += ' ';
    text += detail;
  }
  if (refused->amount != 0) text += ' ' + std::to_string(refused->amount);
  return refused->resolvable ? text : text + '!';
}

struct FitCase {
  const char* name;
  Node node;
  std::vector<Pod> others;
  Pod ask;
  std::string refusal;
};

class PodFits : public testing::TestWithParam<FitCase> {};

TEST_P(PodFits, OrTheFirstReasonIsTold) {
  const FitCase& item = GetParam();
  FitScene scene(item.node, item.ask);
  for (const Pod& other : item.others) scene.cluster.apply(other);
  Survey survey(scene.cluster, scene.configuration);
  Scratch scratch(scene.cluster);
  const Holds holds(survey, scene.configuration);
  PodFit fit(survey, scratch, scene.at("ask"), holds);
  EXPECT_EQ(text_of(survey, fit.check(scene.on("n1"))), item.refusal);
}

Node changed(Node object, const std::function<void(Node&)>& change) {
  change(object);
  return object;
}

Pod changed(Pod object, const std::function<void(Pod&)>& change) {
  change(object);
  return object;
}

Pod asks(std::int64_t cpu) { return pod("ask", "", 5, cpu); }

std::vector<FitCase> fit_cases() {
  const Node cordoned = changed(node("n1", 4), [](Node& object) { object.unschedulable = true; });
  const Node tainted = changed(node("n1", 4), [](Node& object) {
    object.taints = {{.key = "gpu", .value = "yes", .effect = TaintEffect::no_schedule}};
  });
  const auto with_port = [](Pod object) {
    object.shape.ports = {{.port = 80}};
    return object;
  };
  return {
      {"ThereIsRoom", node("n1", 4), {pod("other", "n1", 1, 1)}, asks(3), ""},
      {"ResourcesAreShort", node("n1", 4), {pod("other", "n1", 1, 3)}, asks(3), "resource cpu 2"},
      {"LargerThanTheNode", node("n1", 4), {pod("other", "n1", 1, 3)}, asks(6), "resource cpu 2!"},
      {"Cordoned", cordoned, {}, asks(1), "unschedulable!"},
      {"Tainted", tainted, {}, asks(1), "taint gpu=yes:NoSchedule!"},
      {"TheNodeComesBeforeRoom", cordoned, {}, asks(9), "unschedulable!"},
      {"APortIsTaken",
       node("n1", 4),
       {with_port(pod("other", "n1", 1, 1))},
       with_port(asks(1)),
       "host-port 80/TCP"},
      {"ItWantsAnotherNode",
       node("n1", 4),
       {},
       changed(asks(1), [](Pod& object) { object.notes.required_node = "n2"; }),
       "node-affinity!"},
      {"AnEqualNominationHoldsItsRoom",
       node("n1", 4),
       {nominated(pod("other", "", 5, 3), "n1")},
       asks(2),
       "resource cpu 1"},
      {"ALowerNominationHoldsNothing",
       node("n1", 4),
       {nominated(pod("other", "", 4, 3), "n1")},
       asks(2),
       ""},
  };
}

INSTANTIATE_TEST_SUITE_P(Cases, PodFits, testing::ValuesIn(fit_cases()),
                         [](const auto& test) { return std::string(test.param.name); });

TEST(PodFit, LooksAtTheWorldItWasMadeFor) {
  FitScene scene(node("n1", 4), pod("other", "n1", 1, 3), asks(3));
  Survey survey(scene.cluster, scene.configuration);
  Scratch scratch(scene.cluster);
  const Holds holds(survey, scene.configuration);
  PodFit fit(survey, scratch, scene.at("ask"), holds);
  EXPECT_TRUE(fit.check(scene.on("n1")).has_value());
  scratch.remove(scene.at("other"));
  EXPECT_FALSE(fit.check(scene.on("n1")).has_value());
  EXPECT_TRUE(fit.touched(scene.on("n1")));
  EXPECT_EQ(fit.count_beside(scene.on("n1"), scratch.used(scene.on("n1")), 10), 1);
  scratch.place(scene.at("ask"), scene.on("n1"));
  EXPECT_TRUE(fit.stands_beside(scene.on("n1")));
}

TEST(PodFit, TakenPortsFollowEveryMove) {
  const auto with_ports = [](Pod object, std::vector<HostPort> ports) {
    object.shape.ports = std::move(ports);
    return object;
  };
  FitScene scene(node("n1", 4), node("n2", 4), with_ports(pod("a", "n1", 1, 1), {{.port = 80}}),
                 with_ports(pod("b", "n1", 1, 1), {{.port = 80}, {.port = 81}}),
                 with_ports(asks(1), {{.port = 80}, {.port = 81}}));
  Survey survey(scene.cluster, scene.configuration);
  Scratch scratch(scene.cluster);
  const Holds holds(survey, scene.configuration);
  PodFit fit(survey, scratch, scene.at("ask"), holds);
  const auto refusal_on = [&](const char* name) {
    return text_of(survey, fit.check(scene.on(name)));
  };
  EXPECT_EQ(refusal_on("n1"), "host-port 80/TCP");
  const Scratch::Checkpoint before = scratch.checkpoint();
  scratch.remove(scene.at("b"));
  EXPECT_EQ(refusal_on("n1"), "host-port 80/TCP");
  scratch.remove(scene.at("a"));
  EXPECT_EQ(refusal_on("n1"), "");
  scratch.place(scene.at("a"), scene.on("n2"));
  EXPECT_EQ(refusal_on("n2"), "host-port 80/TCP");
  EXPECT_EQ(refusal_on("n1"), "");
  scratch.rollback(before);
  EXPECT_EQ(refusal_on("n2"), "");
  scratch.remove(scene.at("a"));
  EXPECT_EQ(refusal_on("n1"), "host-port 80/TCP");
}

TEST(PodFit, CanRespectEveryNomination) {
  FitScene scene(node("n1", 4), nominated(pod("other", "", 1, 3), "n1"), asks(2));
  Survey survey(scene.cluster, scene.configuration);
  Scratch scratch(scene.cluster);
  Holds holds(survey, scene.configuration);
  PodFit fit(survey, scratch, scene.at("ask"), holds);
  fit.respect_every_nomination(true);
  EXPECT_TRUE(fit.check(scene.on("n1")).has_value());
  EXPECT_EQ(fit.holders(scene.on("n1")), std::vector{scene.at("other")});
  holds.decide(scene.at("other"));
  EXPECT_FALSE(fit.check(scene.on("n1")).has_value());
  EXPECT_TRUE(fit.holders(scene.on("n1")).empty());
}

}  // namespace
}  // namespace makeway
