// Which rights a scheduler lacks.
#include "kube/own_rights.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "support/live_server.hpp"

namespace makeway::kube {
namespace {

const RightsRequest rights_request{.lease_namespace = "kube-system", .lease_name = "makeway"};

void answer_review(LiveServer& live, int times, std::string_view allowed) {
  live.server.fail({.kind = ServerFault::Kind::status,
                    .path_prefix = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews",
                    .times = times,
                    .status = 201,
                    .body = R"({"kind":"SelfSubjectAccessReview","status":{"allowed":)" +
                            std::string(allowed) + "}}"});
}

TEST(OwnRights, WhatIsNotWantedIsNotAskedFor) {
  const auto has = [](const RightsRequest& request, std::string_view resource) {
    const std::vector<Right> rights = scheduler_rights(request);
    return std::ranges::find(rights, resource, &Right::resource) != rights.end();
  };
  EXPECT_FALSE(has(rights_request, "pods/eviction"));
  EXPECT_FALSE(has(rights_request, "podgroups/status"));
  RightsRequest more = rights_request;
  more.evicts_by_api = true;
  more.has_groups = true;
  EXPECT_TRUE(has(more, "pods/eviction"));
  EXPECT_TRUE(has(more, "podgroups/status"));
}

TEST(OwnRights, ARuleCanBePutIntoARole) {
  EXPECT_EQ(rule_for({.api_group = "", .resource = "pods/binding", .verb = "create"}),
            "{apiGroups: [\"\"], resources: [pods/binding], verbs: [create]}");
  EXPECT_EQ(rule_for(scheduler_rights(rights_request).back()),
            "{apiGroups: [\"coordination.k8s.io\"], resources: [leases], resourceNames: [makeway], "
            "verbs: [update]} in kube-system");
}

TEST(OwnRights, OnlyAClearNoIsOne) {
  LiveServer live;
  const auto connection = live.connect();
  const std::vector<Right> rights = scheduler_rights(rights_request);
  answer_review(live, 1, "true");
  answer_review(live, 1, "false");
  answer_review(live, 1, "null");
  // The others find no such path.
  EXPECT_EQ(missing_rights(connection->api(), rights), std::vector<Right>{rights[1]});
}

}  // namespace
}  // namespace makeway::kube
