// Where groups may go: required and preferred levels, their order, and what running members change.
#include "policies/workload/group/group_domains.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <set>

#include "support/plan_scene.hpp"

namespace makeway {
namespace {

using Keys = std::vector<std::string>;

Node in(std::string name, Labels labels) {
  Node node = scene::node(std::move(name), 1000);
  node.labels = std::move(labels);
  return node;
}

struct DomainScene {
  Cluster cluster;
  Configuration configuration;
  PodGroup gang{.namespace_name = "default", .name = "gang", .policy = {.gang = true}};

  /// Block a: n1 in r1. Block b: n2 and n3 in r2, n4 in r3, n5 in no rack. No block: n6 in r9.
  DomainScene() {
    cluster.apply(in("n1", {{"block", "a"}, {"rack", "r1"}}));
    cluster.apply(in("n2", {{"block", "b"}, {"rack", "r2"}}));
    cluster.apply(in("n3", {{"block", "b"}, {"rack", "r2"}}));
    cluster.apply(in("n4", {{"block", "b"}, {"rack", "r3"}}));
    cluster.apply(in("n5", {{"block", "b"}}));
    cluster.apply(in("n6", {{"rack", "r9"}}));
    member("pending", "");
  }

  void member(const std::string& name, const std::string& node) {
    cluster.apply(scene::in_group(scene::pod(name, node, 100, 100), "gang"));
  }

  std::vector<GroupDomain> domains(Keys required, Keys preferred) {
    gang.policy.topology_keys = std::move(required);
    gang.preferred_topology = std::move(preferred);
    cluster.apply(gang);
    World world(cluster, configuration, scene::now);
    return domains_of(world, cluster.groups()[*cluster.find_group("default", "gang")].unit);
  }

  /// "block=b,rack=r2 (n2 n3)", with ! for preferred and ^ for widest.
  Keys texts(Keys required, Keys preferred) {
    Keys lines;
    for (const GroupDomain& domain : domains(std::move(required), std::move(preferred))) {
      std::string line = domain.name.empty() ? "all" : domain.name;
      if (domain.preferred) line += '!';
      if (domain.widest) line += '^';
      for (const NodeIndex node : domain.nodes) {
        line += fmt::format(" {}", cluster.text(cluster.nodes().name[node]));
      }
      lines.push_back(std::move(line));
    }
    return lines;
  }
};

TEST(GroupDomains, WithoutTopologyTheWholeClusterIsOne) {
  EXPECT_EQ(DomainScene().texts({}, {}), Keys{"all^ n1 n2 n3 n4 n5 n6"});
}

TEST(GroupDomains, RequiredAreByNameWithoutNodesThatLackTheLabel) {
  EXPECT_EQ(DomainScene().texts({"block"}, {}), (Keys{"block=a^ n1", "block=b^ n2 n3 n4 n5"}));
  EXPECT_EQ(DomainScene().texts({"block", "rack"}, {}),
            (Keys{"block=a,rack=r1^ n1", "block=b,rack=r2^ n2 n3", "block=b,rack=r3^ n4"}));
  EXPECT_EQ(DomainScene().texts({"zone"}, {}), Keys{});
}

TEST(GroupDomains, PreferredLevelsComeNarrowestFirstAndEqualSetsOnce) {
  EXPECT_EQ(DomainScene().texts({}, {"rack", "block"}),
            (Keys{"block=a,rack=r1! n1", "block=b,rack=r2! n2 n3", "block=b,rack=r3! n4",
                  "rack=r9! n6", "block=b! n2 n3 n4 n5", "all^ n1 n2 n3 n4 n5 n6"}))
      << "block a is the rack r1";
}

TEST(GroupDomains, PreferredOnesLieInsideRequiredOnes) {
  EXPECT_EQ(DomainScene().texts({"block"}, {"rack"}),
            (Keys{"block=a,rack=r1!^ n1", "block=b,rack=r2! n2 n3", "block=b,rack=r3! n4",
                  "block=b^ n2 n3 n4 n5"}));
  DomainScene scene;  // a domain's level is a view of the group's own text
  const std::vector<GroupDomain> domains = scene.domains({"block"}, {"rack"});
  EXPECT_EQ(domains.front().level, "rack");
  EXPECT_EQ(domains.back().level, "block");
}

TEST(GroupDomains, RacksOfOneNameInTwoBlocksAreTwo) {
  DomainScene scene;
  scene.cluster.apply(in("n4", {{"block", "b"}, {"rack", "r1"}}));
  EXPECT_EQ(scene.texts({"block"}, {"rack"}),
            (Keys{"block=a,rack=r1!^ n1", "block=b,rack=r1! n4", "block=b,rack=r2! n2 n3",
                  "block=b^ n2 n3 n4 n5"}));
}

TEST(GroupDomains, APreferredLabelThatNoNodeCarriesOrThatIsRequiredChangesNothing) {
  EXPECT_EQ(DomainScene().texts({}, {"zone"}), DomainScene().texts({}, {}));
  EXPECT_EQ(DomainScene().texts({"block"}, {"block"}), DomainScene().texts({"block"}, {}));
  EXPECT_EQ(DomainScene().texts({"block"}, {"rack", "zone"}),
            DomainScene().texts({"block"}, {"rack"}));
}

TEST(GroupDomains, OneRackForAllStandsForTheCluster) {
  DomainScene scene;
  scene.cluster = Cluster();
  scene.cluster.apply(in("n1", {{"rack", "r1"}}));
  scene.member("pending", "");
  EXPECT_EQ(scene.texts({}, {"rack"}), Keys{"rack=r1!^ n1"});
}

TEST(GroupDomains, RunningMembersBindTheGroupToTheirRequiredDomain) {
  DomainScene scene;
  scene.member("m1", "n4");
  EXPECT_EQ(scene.texts({"block"}, {}), Keys{"block=b^ n2 n3 n4 n5"});
  EXPECT_EQ(scene.texts({"rack"}, {}), Keys{"rack=r3^ n4"});
  scene.member("m2", "n2");
  EXPECT_EQ(scene.texts({"block"}, {}), Keys{"block=b^ n2 n3 n4 n5"});
  EXPECT_EQ(scene.texts({"rack"}, {}), Keys{}) << "torn apart";
  scene.member("m2", "n5");
  EXPECT_EQ(scene.texts({"rack"}, {}), Keys{}) << "in no rack";
  scene.cluster.apply(scene::leaving(scene::in_group(scene::pod("m2", "n2", 100, 100), "gang")));
  EXPECT_EQ(scene.texts({"rack"}, {}), Keys{"rack=r3^ n4"}) << "a leaving pod binds no member";
}

TEST(GroupDomains, PreferredOnesWithRunningMembersComeFirst) {
  DomainScene scene;
  scene.member("m1", "n4");
  EXPECT_EQ(scene.texts({}, {"rack", "block"}),
            (Keys{"block=b,rack=r3! n4", "block=b! n2 n3 n4 n5", "block=a,rack=r1! n1",
                  "block=b,rack=r2! n2 n3", "rack=r9! n6", "all^ n1 n2 n3 n4 n5 n6"}));
  scene.member("m2", "n2");
  scene.member("m3", "n3");
  EXPECT_EQ(scene.texts({"block"}, {"rack"}),
            (Keys{"block=b,rack=r2! n2 n3", "block=b,rack=r3! n4", "block=b^ n2 n3 n4 n5"}))
      << "two run in r2, one in r3";
}

TEST(GroupDomains, ClusterReadsNeither) {
  DomainScene scene;
  scene.configuration.workload.group_domains = GroupDomains::cluster;
  EXPECT_EQ(scene.texts({"block"}, {"rack"}), Keys{"all^ n1 n2 n3 n4 n5 n6"});
}

TEST(GroupDomains, AGroupWithoutItsObjectReadsItsTemplate) {
  DomainScene scene;
  Workload workload{.namespace_name = "default", .name = "w", .templates = {{.name = "t"}}};
  workload.templates.front().policy.topology_keys = {"block"};
  scene.cluster.apply(workload);
  scene.cluster.apply(scene::in_group(scene::pod("p", "", 100, 100), "w/t"));
  World world(scene.cluster, scene.configuration, scene::now);
  const Group& group = scene.cluster.groups()[*scene.cluster.find_group("default", "w/t")];
  EXPECT_EQ(domains_of(world, group.unit).size(), 2U);
}

TEST(GroupDomains, FiveThousandDomainsOfOneNode) {
  constexpr std::size_t count = 5000;
  DomainScene scene;
  scene.cluster = Cluster();
  for (std::size_t number = 0; number < count; ++number) {
    scene.cluster.apply(in(fmt::format("n{}", number), {{"block", fmt::format("b{}", number / 100)},
                                                        {"host", fmt::format("h{}", number)}}));
  }
  scene.member("pending", "");
  const std::vector<GroupDomain> domains = scene.domains({}, {"host", "block"});
  ASSERT_EQ(domains.size(), count + 50 + 1);
  std::set<std::string_view> names;
  for (const GroupDomain& domain : domains) names.insert(domain.name);
  EXPECT_EQ(names.size(), domains.size());
}

}  // namespace
}  // namespace makeway
