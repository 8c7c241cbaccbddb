#include "model/profiles.hpp"

#include <gtest/gtest.h>

#include "model/compatibility.hpp"

namespace makeway {
namespace {

Configuration with_profile(std::vector<ProfileKnob> knobs) {
  Configuration configuration;
  configuration.profiles = {{.scheduler_name = "batch", .knobs = std::move(knobs)}};
  return configuration;
}

std::string problem_of(std::vector<ProfileKnob> knobs) {
  const Problems problems = validate(with_profile(std::move(knobs)));
  return problems.empty() ? std::string{} : to_text(problems.front());
}

TEST(Profiles, ChangeKnobsOfAsksAndFollowTheOthers) {
  Configuration configuration = with_profile({{"compatibility", "mcm-v1"}});
  configuration.workload.node_score = NodeScore::spread;
  configuration.engine.leave_timeout = Duration{5'000};
  const std::vector<ProfileRules> all = differing_profiles(configuration);
  ASSERT_EQ(all.size(), 1U);
  EXPECT_EQ(all[0].scheduler_name, "batch");
  Configuration expected = configuration;
  expected.profiles.clear();
  apply_compatibility(expected, Compatibility::mcm_v1);
  EXPECT_EQ(all[0].configuration, expected);
}

TEST(Profiles, ThatChangeNothingLeaveNoTrace) {
  const Configuration same = with_profile({{"workload.nodeScore", "pack"}});
  EXPECT_TRUE(differing_profiles(same).empty());
  EXPECT_EQ(configuration_hash(same), configuration_hash(Configuration{}));
  EXPECT_NE(configuration_hash(with_profile({{"workload.nodeScore", "spread"}})),
            configuration_hash(Configuration{}));
}

TEST(Profiles, AreRefusedWithTheKnobAndTheRemedy) {
  EXPECT_EQ(problem_of({{"compatibility", "mcm-v1"}}), "");
  EXPECT_EQ(problem_of({{"protection.minimumRuntime", "10m"}}),
            "profiles.batch.protection.minimumRuntime \"10m\": is a knob of the cluster: the "
            "profiles share one cluster and must agree on it; take it out here; "
            "protection.minimumRuntime beside the profiles counts for all of them");
  EXPECT_EQ(problem_of({{"workload.nodescore", "pack"}}),
            "profiles.batch.workload.nodescore \"pack\": there is no such knob; did you mean "
            "workload.nodeScore?");
  EXPECT_EQ(problem_of({{"workload.nodeScore", "worst"}}),
            "profiles.batch.workload.nodeScore \"worst\": expected one of pack, spread; "
            "'makeway config explain workload.nodeScore' says more");
  EXPECT_EQ(problem_of({{"workload.victimChoice", "put-back"}}),
            "profiles.batch.workload.victimChoice \"put-back\": is part of compatibility; set "
            "compatibility=kube-1.37 or kep-5710 or yunikorn or mcm-v1 or backend-ai");
  EXPECT_EQ(problem_of({{"compatibility", "kube-1.37"}}),
            "profiles.batch.compatibility \"kube-1.37\": plans would break law 4-gangs, which is "
            "not waived; choose the same compatibility for the cluster, or another one");
}

TEST(Profiles, AProblemOfAllIsReportedOnce) {
  Configuration configuration = with_profile({{"workload.nodeScore", "spread"}});
  configuration.session.backoff_max = {};
  EXPECT_EQ(validate(configuration).size(), 1U);
}

TEST(Profiles, HaveANameEach) {
  Configuration configuration = with_profile({});
  configuration.profiles.push_back(configuration.profiles.front());
  ASSERT_EQ(validate(configuration).size(), 1U);
  EXPECT_EQ(to_text(validate(configuration).front()),
            "profiles \"batch\": two profiles have this schedulerName; merge them");
  configuration.profiles = {{}};
  EXPECT_EQ(to_text(validate(configuration).front()),
            "profiles: a profile has no schedulerName; set profiles[].schedulerName");
  configuration.profiles.assign(profiles_max + 1, {});
  EXPECT_EQ(to_text(validate(configuration).front()),
            "profiles \"101 profiles\": there may be 100 at most; let pods with the same rules "
            "share a schedulerName");
}

TEST(Profiles, AGroupHasThatOfItsFirstPodByName) {
  Cluster cluster;
  const auto put = [&](std::string name, std::string group, std::string scheduler) {
    cluster.apply(Pod{.namespace_name = "a",
                      .name = std::move(name),
                      .group = std::move(group),
                      .scheduler = std::move(scheduler)});
  };
  cluster.apply(PodGroup{.namespace_name = "a", .name = "g"});
  put("m-2", "g", "other");
  put("m-1", "g", "batch");
  put("alone", "", "");
  const auto first = [&](std::string_view pod) {
    return first_pod_of(cluster, cluster.pods().unit[*cluster.find_pod("a", pod)]);
  };
  EXPECT_EQ(scheduler_of(cluster, first("m-2")), "batch");
  EXPECT_EQ(scheduler_of(cluster, first("alone")), "default-scheduler");
  EXPECT_FALSE(first_pod_of(cluster, {}).exists());
}

TEST(Profiles, AreServedBesideTheNamesThatAreGiven) {
  EXPECT_EQ(served_schedulers({"makeway", "batch"}, with_profile({})),
            (std::vector<std::string>{"makeway", "batch"}));
  EXPECT_EQ(served_schedulers({"makeway"}, with_profile({})),
            (std::vector<std::string>{"makeway", "batch"}));
}

}  // namespace
}  // namespace makeway
