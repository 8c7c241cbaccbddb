// The queue stage in a plan document: field names and shape are a promise.
#include <gtest/gtest.h>

#include "codec/plan_codec.hpp"

namespace makeway {
namespace {

std::string document_of(const Plan& plan) {
  return plan_text_json(plan, PlanDetail::brief, JsonStyle::compact);
}

TEST(PlanQueues, AreWrittenInTheUnitOfTheResource) {
  const Plan plan{
      .id = "00",
      .queues = {{.name = "team",
                  .weight = 2,
                  .leaf = false,
                  .shares = {{.resource = "cpu",
                              .deserved = 3000,
                              .allocated_before = 3000,
                              .allocated = 2000,
                              .used = 2500,
                              .leaving = 500,
                              .demand = 4000,
                              .preempting = 1000}}},
                 {.name = "vision", .parent = "team", .shares = {}, .adopts = 3}},
      .queue_moves =
          {{.resource = "cpu", .from = "team", .amount = 500},
           {.resource = "cpu", .from = "team", .to = "vision", .amount = 1000, .at_once = false}},
      .queue_status = {{.name = "team",
                        .uid = "u",
                        .deserved = {{"cpu", 3000}, {"memory", 1073741824}},
                        .allocated = {{"cpu", 2000}},
                        .used = {{"cpu", 2500}},
                        .preempting = {{"cpu", 0}}}}};
  EXPECT_TRUE(document_of(plan).contains(
      R"("lawsWaived":[],"queues":[{"name":"team","parent":"","weight":2,"leaf":false,"shares":[)"
      R"({"resource":"cpu","deserved":3000,"allocatedBefore":3000,"allocated":2000,"used":2500,)"
      R"("leaving":500,"demand":4000,"preempting":1000}]},)"
      R"({"name":"vision","parent":"team","weight":1,"leaf":true,)"
      R"("adopts":3,"adoptedLeave":0,"shares":[]}],)"
      R"("queueMoves":[{"resource":"cpu","from":"team","to":"","amount":500,"atOnce":true},)"
      R"({"resource":"cpu","from":"team","to":"vision","amount":1000,"atOnce":false}],)"
      R"("queueStatus":[{"name":"team","uid":"u","status":{"deserved":{"cpu":"3","memory":"1Gi"},)"
      R"("allocated":{"cpu":"2"},"used":{"cpu":"2500m"},"preempting":{"cpu":"0"}}}],"asks":[])"))
      << document_of(plan);
}

TEST(PlanQueues, AreLeftOutWhereThereAreNone) { EXPECT_FALSE(document_of({}).contains("queue")); }

}  // namespace
}  // namespace makeway
