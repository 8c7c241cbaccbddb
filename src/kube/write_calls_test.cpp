#include "kube/write_calls.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>

namespace makeway::kube {
namespace {

constexpr Time call_time{1'767'225'600'250};  // 2026-01-01T00:00:00.250Z
constexpr std::string_view call_query = "?timeout=5s&fieldManager=makeway";
constexpr std::string_view pod_at = "/api/v1/namespaces/a/pods/p";
constexpr std::string_view merge_patch = "application/strategic-merge-patch+json";

ObjectState call_pod() {
  return {.namespace_name = "a", .name = "p", .uid = "U", .version = "123", .generation = 1};
}

struct CallCase {
  std::string_view name;
  WriteCall call;
  std::string method;
  std::string path;
  std::string type;
  std::string body;
};

std::string call_at(std::string_view part) {
  return std::string(pod_at) + std::string(part) + std::string(call_query);
}

std::vector<CallCase> pod_cases() {
  const WriteOptions options{.manager = "makeway", .instance = "makeway-host1"};
  const CauseOf cause{.ask = pod_ref("b", "urgent"), .uid = "X"};
  ObjectState seen = call_pod();
  seen.conditions = {{"PodScheduled", "False", "Other", "old", "2025-12-31T00:00:00Z"}};
  return {
      {"bind", bind_call(options, call_pod(), "n1", "0123"), "POST", call_at("/binding"),
       "application/json",
       R"({"apiVersion":"v1","kind":"Binding","metadata":{"name":"p","namespace":"a","uid":"U",)"
       R"("resourceVersion":"123","annotations":{"makeway.dev/plan":"0123"}},)"
       R"("target":{"apiVersion":"v1","kind":"Node","name":"n1"}})"},
      {"nominate, the condition keeps its time",
       patch_pod_call(options, seen, nomination("n1", "0123", "0/3 nodes"), call_time), "PATCH",
       call_at("/status"), std::string(merge_patch),
       R"({"metadata":{"uid":"U"},"status":{"nominatedNodeName":"n1","conditions":[)"
       R"({"type":"PodScheduled","status":"False","reason":"Unschedulable","message":"0/3 nodes",)"
       R"("observedGeneration":1,"lastTransitionTime":"2025-12-31T00:00:00Z"},)"
       R"({"type":"makeway.dev/Nominated","status":"True","reason":"Nominated",)"
       R"("message":"node n1, plan 0123","observedGeneration":1,)"
       R"("lastTransitionTime":"2026-01-01T00:00:00Z"}]}})"},
      {"clear a nomination",
       patch_pod_call(options, call_pod(), cleared_nomination("0123"), call_time), "PATCH",
       call_at("/status"), std::string(merge_patch),
       R"({"metadata":{"uid":"U"},"status":{"nominatedNodeName":null,"conditions":[)"
       R"({"type":"makeway.dev/Nominated","status":"False","reason":"Cleared",)"
       R"("message":"plan 0123","observedGeneration":1,)"
       R"("lastTransitionTime":"2026-01-01T00:00:00Z"}]}})"},
      {"mark a victim",
       patch_pod_call(options, call_pod(), eviction_mark(cause, "0123", false), call_time), "PATCH",
       call_at("/status"), std::string(merge_patch),
       R"({"metadata":{"uid":"U","annotations":{"makeway.dev/evicted-for":"Pod X",)"
       R"("makeway.dev/plan":"0123"}},"status":{"conditions":[{"type":"DisruptionTarget",)"
       R"("status":"True","reason":"PreemptionByScheduler",)"
       R"("message":"makeway: preempting to accommodate a higher priority pod, uid X",)"
       R"("observedGeneration":1,"lastTransitionTime":"2026-01-01T00:00:00Z"}]}})"},
      {"delete", delete_call(options, call_pod(), std::nullopt), "DELETE", call_at(""),
       "application/json",
       R"({"apiVersion":"v1","kind":"DeleteOptions","preconditions":{"uid":"U"}})"},
      {"force-delete", delete_call(options, call_pod(), 0), "DELETE", call_at(""),
       "application/json",
       R"({"apiVersion":"v1","kind":"DeleteOptions","gracePeriodSeconds":0,)"
       R"("preconditions":{"uid":"U"}})"},
      {"phase Failed", patch_pod_call(options, call_pod(), {.phase = "Failed"}, call_time), "PATCH",
       call_at("/status"), std::string(merge_patch),
       R"({"metadata":{"uid":"U"},"status":{"phase":"Failed"}})"},
  };
}

std::vector<CallCase> other_cases() {
  const WriteOptions options{.manager = "makeway", .instance = "makeway-host1"};
  ObjectState group = call_pod();
  group.kind = ObjectKind::pod_group;
  group.name = "g";
  group.generation = 0;
  StatusPatch scheduled;
  scheduled.conditions = {{"PodGroupInitiallyScheduled", true, "Scheduled", "all bound"}};
  return {
      {"evict", eviction_call(options, call_pod()), "POST", call_at("/eviction"),
       "application/json",
       R"({"apiVersion":"policy/v1","kind":"Eviction","metadata":{"name":"p","namespace":"a"},)"
       R"("deleteOptions":{"preconditions":{"uid":"U","resourceVersion":"123"}}})"},
      {"reserve",
       patch_pod_call(options, call_pod(), reservation("n1", "0123", Time{1'767'139'200'000}, true),
                      call_time),
       "PATCH", call_at("/status"), std::string(merge_patch),
       R"({"metadata":{"uid":"U"},"status":{"conditions":[{"type":"makeway.dev/Reserved",)"
       R"("status":"True","reason":"Promised","message":"node n1, plan 0123",)"
       R"("observedGeneration":1,"lastTransitionTime":"2025-12-31T00:00:00Z"}]}})"},
      {"group", patch_group_call(options, group, scheduled, call_time), "PATCH",
       "/apis/scheduling.k8s.io/v1beta1/namespaces/a/podgroups/g/status" + std::string(call_query),
       std::string(merge_patch),
       R"({"metadata":{"uid":"U"},"status":{"conditions":[{"type":"PodGroupInitiallyScheduled",)"
       R"("status":"True","reason":"Scheduled","message":"all bound",)"
       R"("lastTransitionTime":"2026-01-01T00:00:00Z"}]}})"},
      {"event",
       event_call(options,
                  {.regarding = call_pod(),
                   .reason = "Scheduled",
                   .action = "Binding",
                   .note = "Successfully assigned a/p to n1"},
                  call_time, 0x18c2f0a1b2c3d4e5),
       "POST", "/apis/events.k8s.io/v1/namespaces/a/events" + std::string(call_query),
       "application/json",
       R"({"apiVersion":"events.k8s.io/v1","kind":"Event","metadata":)"
       R"({"name":"p.18c2f0a1b2c3d4e5","namespace":"a"},)"
       R"("eventTime":"2026-01-01T00:00:00.250000Z","type":"Normal","reason":"Scheduled",)"
       R"("action":"Binding","note":"Successfully assigned a/p to n1",)"
       R"("reportingController":"makeway","reportingInstance":"makeway-host1","regarding":)"
       R"({"apiVersion":"v1","kind":"Pod","namespace":"a","name":"p","uid":"U"}})"},
  };
}

TEST(WriteCalls, AreThese) {
  std::vector<CallCase> cases = pod_cases();
  std::ranges::move(other_cases(), std::back_inserter(cases));
  for (const CallCase& each : cases) {
    SCOPED_TRACE(each.name);
    EXPECT_EQ(each.call.write.method, each.method);
    EXPECT_EQ(each.call.path, each.path);
    EXPECT_EQ(each.call.write.content_type, each.type);
    EXPECT_EQ(each.call.write.body, each.body);
  }
}

TEST(WriteCalls, NameTheAskOnlyIfConfigured) {
  const CauseOf cause{.ask = *parse_ref("PodGroup b/gang"), .uid = "X"};
  EXPECT_EQ(eviction_message(cause, false),
            "makeway: preempting to accommodate a higher priority podgroup, uid X");
  EXPECT_EQ(eviction_message(cause, true),
            "makeway: preempting to accommodate a higher priority podgroup b/gang, uid X");
  EXPECT_EQ(eviction_mark(cause, "1", true).annotations.front().second, "PodGroup b/gang");
}

TEST(WriteCalls, EscapeWhatObjectsAreCalled) {
  ObjectState odd = call_pod();
  odd.name = "../x?y";
  EXPECT_EQ(delete_call({}, odd, std::nullopt).path,
            "/api/v1/namespaces/a/pods/..%2Fx%3Fy" + std::string(call_query));
}

TEST(WriteCalls, AClaimIsGuardedByUidAndVersion) {
  const WriteCall call = select_node_call({}, call_pod(), "n1");
  EXPECT_TRUE(call.path.starts_with("/api/v1/namespaces/"));
  EXPECT_NE(call.path.find("/persistentvolumeclaims/"), std::string::npos);
  EXPECT_NE(call.write.body.find(R"("resourceVersion":)"), std::string::npos);
  EXPECT_NE(call.write.body.find(R"("volume.kubernetes.io/selected-node":"n1")"),
            std::string::npos);
}

TEST(WriteCalls, TheNoteOfAnEventIsCutBetweenCharacters) {
  const std::string note = std::string(1'023, 'x') + "\xC3\xA4";
  const WriteCall call = event_call({}, {.regarding = call_pod(), .note = note}, call_time, 1);
  EXPECT_NE(call.write.body.find(std::string(1'023, 'x') + "\""), std::string::npos);
}

TEST(WriteCalls, APatchThatChangesNothingIsKnown) {
  ObjectState seen = call_pod();
  const StatusPatch patch = nomination("n1", "0123", "no room");
  EXPECT_TRUE(changes(patch, seen));
  seen.nominated_node = "n1";
  seen.conditions = {{"PodScheduled", "False", "Unschedulable", "no room", ""},
                     {"makeway.dev/Nominated", "True", "Nominated", "node n1, plan 0000", ""}};
  EXPECT_FALSE(changes(patch, seen));
  EXPECT_TRUE(changes(nomination("n2", "0123", {}), seen));
  EXPECT_TRUE(changes(nomination("n1", "0123", "less room"), seen));
  EXPECT_TRUE(changes(cleared_nomination("0123"), seen));
  EXPECT_TRUE(changes(reservation("n1", "0123", call_time, false), seen));
  seen.conditions.push_back(
      {"makeway.dev/Reserved", "True", "Reserved", "node n1, plan 0", "2026-01-01T00:00:00Z"});
  EXPECT_FALSE(changes(reservation("n1", "0123", call_time, false), seen));
  EXPECT_TRUE(changes(reservation("n1", "0123", call_time, true), seen));
}

TEST(WriteCalls, WhatIsWrongWithAnObjectOfOursIsACondition) {
  ObjectState queue;
  queue.kind = ObjectKind::queue;
  queue.name = "team";
  queue.uid = "q";
  queue.version = "7";
  queue.generation = 3;
  // Conditions of other writers stay as they are: a merge patch replaces the list.
  queue.conditions = {
      {"example.com/Reviewed", "True", "Because", "", "2026-01-01T00:00:00Z", 2},
      {"makeway.dev/Accepted", "False", "Quarantined", "spec.parent 'all': no", ""}};
  using Level = OwnFinding::Level;
  const OwnFinding wrong{.level = Level::quarantined, .text = "spec.parent 'all': no"};
  EXPECT_FALSE(changes(acceptance(&wrong), queue));
  const OwnFinding other{.level = Level::quarantined, .text = "spec.parent 'none': no"};
  EXPECT_TRUE(changes(acceptance(&other), queue));
  const StatusPatch mended = acceptance(nullptr);
  EXPECT_TRUE(changes(mended, queue));
  EXPECT_EQ(own_status(queue, {}, mended, Time{0}),
            R"({"conditions":[{"type":"example.com/Reviewed","status":"True","reason":"Because",)"
            R"("lastTransitionTime":"2026-01-01T00:00:00Z","observedGeneration":2},)"
            R"({"type":"makeway.dev/Accepted","status":"True","reason":"Accepted","message":"",)"
            R"("observedGeneration":3,"lastTransitionTime":"1970-01-01T00:00:00Z"}]})");
  const OwnFinding doubt{.level = Level::doubtful, .text = std::string(2'000, 'x')};
  const ConditionUpdate update = acceptance(&doubt).conditions.at(0);
  EXPECT_TRUE(update.value);
  EXPECT_EQ(update.reason, "Doubtful");
  EXPECT_EQ(update.message.size(), 1'024U);
  const OwnFinding idle{.level = Level::cannot_work, .text = "no"};
  EXPECT_FALSE(acceptance(&idle).conditions.at(0).value);
  EXPECT_EQ(acceptance(&idle).conditions.at(0).reason, "CannotWork");
}

TEST(WriteCalls, WhyASessionWaitsIsAConditionBesideTheOthers) {
  ObjectState session;
  session.kind = ObjectKind::session;
  session.conditions = {{"makeway.dev/Accepted", "True", "Doubtful", "hm", "", 0}};
  StatusPatch patch;
  patch.phase = "pending";
  patch.conditions = {session_word(false, "Unschedulable", "has no room")};
  EXPECT_TRUE(changes(patch, session));
  const std::string accepted =
      R"("conditions":[{"type":"makeway.dev/Accepted","status":"True","reason":"Doubtful",)"
      R"("message":"hm"},)";
  const std::string waits =
      R"({"type":"makeway.dev/Scheduled","status":"False","reason":"Unschedulable",)"
      R"("message":"has no room","lastTransitionTime":"1970-01-01T00:00:00Z"}]})";
  EXPECT_EQ(own_status(session, {}, patch, Time{0}), R"({"phase":"pending",)" + accepted + waits);
  // Along with a status that is written anyway.
  patch.phase.clear();
  EXPECT_EQ(own_status(session, R"({"preemptions":1})", patch, Time{0}),
            R"({"preemptions":1,)" + accepted + waits);
  EXPECT_EQ(own_status(session, R"({"preemptions":1})", {}, Time{0}), R"({"preemptions":1})");
  // Other than in a note of ours, every word of the message counts.
  session.conditions.push_back({"makeway.dev/Scheduled", "False", "Unschedulable", "has no room"});
  EXPECT_FALSE(changes(patch, session));
  patch.conditions[0].message = "has no room, and no session may be preempted";
  EXPECT_TRUE(changes(patch, session));
}

}  // namespace
}  // namespace makeway::kube
