// Requests of a pod: the arithmetic of Kubernetes (SPEC section 2, "Feasibility"; issue 3, 6).
#include "codec/pod_requests.hpp"

#include <gtest/gtest.h>

#include <string>

namespace makeway {
namespace {

ResourceList list(std::initializer_list<std::pair<std::string_view, std::string_view>> items) {
  ResourceList result;
  for (const auto& [resource, text] : items) {
    const auto quantity = parse_quantity_exact(text);
    EXPECT_TRUE(quantity.has_value()) << text;
    result.push_back({.resource = resource, .quantity = *quantity});
  }
  return result;
}

TEST(PodRequests, AddsContainers) {
  const PodResources pod{.containers = {{.requests = list({{"cpu", "500m"}, {"memory", "1Gi"}})},
                                        {.requests = list({{"cpu", "250m"}})}}};
  EXPECT_EQ(pod_requests(pod), (Amounts{{"cpu", 750}, {"memory", 1'073'741'824}}));
}

TEST(PodRequests, RoundsTheExactSumUpOnce) {
  // 0.5m + 0.5m is 1m; rounding each part first would say 2m.
  const PodResources pod{
      .containers = {{.requests = list({{"cpu", "500u"}})}, {.requests = list({{"cpu", "500u"}})}}};
  EXPECT_EQ(pod_requests(pod), (Amounts{{"cpu", 1}}));
}

TEST(PodRequests, WhatIsOnlyLimitedIsRequested) {
  const PodResources pod{.containers = {{.requests = list({{"cpu", "1"}}),
                                         .limits = list({{"cpu", "4"}, {"nvidia.com/gpu", "2"}})}}};
  EXPECT_EQ(pod_requests(pod), (Amounts{{"cpu", 1000}, {"nvidia.com/gpu", 2}}));
}

TEST(PodRequests, AnInitContainerNeedsItsPeak) {
  const PodResources pod{
      .containers = {{.requests = list({{"cpu", "1"}})}},
      .init_containers = {{.requests = list({{"cpu", "3"}})}, {.requests = list({{"cpu", "2"}})}}};
  EXPECT_EQ(pod_requests(pod), (Amounts{{"cpu", 3000}}));
}

TEST(PodRequests, SidecarsRunBesideTheContainersAndLaterInitContainers) {
  // Sidecar 1 starts first: init needs 3 + 1; running needs 1 + 2 + 1 (second sidecar).
  const PodResources pod{
      .containers = {{.requests = list({{"cpu", "2"}})}},
      .init_containers = {{.restartable = true, .requests = list({{"cpu", "1"}})},
                          {.requests = list({{"cpu", "4"}})},
                          {.restartable = true, .requests = list({{"cpu", "1"}})}}};
  EXPECT_EQ(pod_requests(pod), (Amounts{{"cpu", 5000}}));
}

TEST(PodRequests, ASidecarStartedLaterDoesNotRaiseAnEarlierInitContainer) {
  const PodResources pod{
      .containers = {{.requests = list({{"cpu", "1"}})}},
      .init_containers = {{.requests = list({{"cpu", "4"}})},
                          {.restartable = true, .requests = list({{"cpu", "2"}})}}};
  EXPECT_EQ(pod_requests(pod), (Amounts{{"cpu", 4000}}));
}

TEST(PodRequests, OverheadComesOnTop) {
  const PodResources pod{.containers = {{.requests = list({{"cpu", "1"}})}},
                         .init_containers = {{.requests = list({{"cpu", "2"}})}},
                         .overhead = list({{"cpu", "250m"}, {"memory", "64Mi"}})};
  EXPECT_EQ(pod_requests(pod), (Amounts{{"cpu", 2250}, {"memory", 67'108'864}}));
}

TEST(PodRequests, ResizeInPlaceCountsTheLargest) {
  const PodResources pod{.containers = {{.name = "a",
                                         .requests = list({{"cpu", "1"}, {"memory", "1Gi"}}),
                                         .has_status = true,
                                         .allocated = list({{"cpu", "2"}}),
                                         .actual = list({{"cpu", "1500m"}, {"memory", "2Gi"}})}}};
  EXPECT_EQ(pod_requests(pod), (Amounts{{"cpu", 2000}, {"memory", 2'147'483'648}}));
}

TEST(PodRequests, AnInfeasibleResizeDoesNotCountWhatWasAskedFor) {
  const PodResources pod{.containers = {{.requests = list({{"cpu", "64"}}),
                                         .has_status = true,
                                         .allocated = list({{"cpu", "2"}}),
                                         .actual = list({{"cpu", "1"}})}},
                         .resize_infeasible = true};
  EXPECT_EQ(pod_requests(pod), (Amounts{{"cpu", 2000}}));
}

TEST(PodRequests, TheStatusOfAnOrdinaryInitContainerIsIgnored) {
  const PodResources pod{
      .init_containers = {
          {.requests = list({{"cpu", "1"}}), .has_status = true, .actual = list({{"cpu", "9"}})}}};
  EXPECT_EQ(pod_requests(pod), (Amounts{{"cpu", 1000}}));
}

TEST(PodRequests, PodLevelRequestsReplaceTheSums) {
  const PodResources pod{
      .containers = {{.requests = list({{"cpu", "1"}, {"nvidia.com/gpu", "1"}})}},
      .requests = list({{"cpu", "4"}, {"memory", "1Gi"}, {"nvidia.com/gpu", "8"}}),
      .limits = list({{"hugepages-2Mi", "2Mi"}, {"cpu", "9"}}),
      .overhead = list({{"cpu", "1"}})};
  EXPECT_EQ(pod_requests(pod), (Amounts{{"cpu", 5000},
                                        {"hugepages-2Mi", 2'097'152},
                                        {"memory", 1'073'741'824},
                                        {"nvidia.com/gpu", 1}}));
}

TEST(PodRequests, ZeroIsNothing) {
  const PodResources pod{.containers = {{.requests = list({{"cpu", "0"}, {"memory", "0Gi"}})}}};
  EXPECT_TRUE(pod_requests(pod).empty());
}

TEST(PodRequests, APodCountsAsOnePodWhateverItSays) {
  const PodResources pod{.containers = {{.requests = list({{"pods", "7"}})}}};
  EXPECT_TRUE(pod_requests(pod).empty());
}

}  // namespace
}  // namespace makeway
