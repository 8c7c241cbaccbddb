#include "policies/shared/plan_writer.hpp"

#include <gtest/gtest.h>

namespace makeway {
namespace {

const Cluster& no_cluster() {
  static const Cluster cluster;
  return cluster;
}

std::string words(const Reason& reason) { return write_text(no_cluster(), reason); }

TEST(PlanWriter, AWordFollowsItsNumber) {
  const auto leave = [](std::int64_t pods) {
    return words({.code = ReasonCode::pods_leave, .arguments = {pods, "n1"}});
  };
  EXPECT_EQ(leave(0), "0 pods of lower priority must leave n1");
  EXPECT_EQ(leave(1), "1 pod of lower priority must leave n1");
  EXPECT_EQ(leave(2), "2 pods of lower priority must leave n1");
  EXPECT_EQ(words({.code = ReasonCode::fits_on_after_pods, .arguments = {"n1", 1}}),
            "fits on n1 once 1 leaving pod is gone");
}

TEST(PlanWriter, ReasonsAreJoinedAsTheTemplateSays) {
  EXPECT_EQ(words({.code = ReasonCode::given_nodes_apart, .arguments = {named({"zone", "rack"})}}),
            "the given nodes are not in one domain of zone, rack that the group allows");
  const Reasons refusals = {{.code = ReasonCode::as_written, .arguments = {"one"}},
                            {.code = ReasonCode::more_refusals, .arguments = {2}}};
  EXPECT_EQ(words({.code = ReasonCode::no_victims_found, .arguments = {refusals}}),
            "no set of victims found that makes room: one; and 2 reasons more");
  EXPECT_EQ(words({.code = ReasonCode::pinned_pods_leave,
                   .arguments = {1, "n1", named({"a", "b"}), "single"}}),
            "1 pod must leave n1, the only node it can run on (a + b, single)");
}

TEST(PlanWriter, AmountsAndShares) {
  const auto amount = [](Quantity quantity) {
    return words({.code = ReasonCode::amount_of, .arguments = {"cpu", std::move(quantity)}});
  };
  EXPECT_EQ(amount({.resource = "cpu", .amount = 1'500}), "cpu 1500m");
  EXPECT_EQ(amount({.resource = "cpu", .amount = 1'500, .decimals = true}), "cpu 1.5");
  EXPECT_EQ(amount({.resource = "cpu", .amount = 2'000, .decimals = true}), "cpu 2");
  EXPECT_EQ(words({.code = ReasonCode::by_deviation, .arguments = {35'001, 120'000}}),
            "deviation: 3.6 % against 12.0 %");
}

// Where a sentence names an object of a namespace is data, however deep inside the reason it is.
TEST(PlanWriter, ASentenceKnowsWhichObjectsItNames) {
  const ObjectName pod{.kind = MentionKind::pod, .namespace_name = "b", .name = "web"};
  const Reason last{
      .code = ReasonCode::replica_last,
      .arguments = {
          ObjectName{.kind = MentionKind::deployment, .namespace_name = "c", .name = "shop"},
          "eu"}};
  const Sentence sentence =
      write_reason(no_cluster(), {.code = ReasonCode::replica_holder, .arguments = {pod, last}});
  EXPECT_EQ(sentence.text, "b/web is the last replica of c/shop in plane eu");
  ASSERT_EQ(sentence.mentions.size(), 2U);
  const auto part = [&](const Mention& mention) {
    return sentence.text.substr(mention.at, mention.length);
  };
  EXPECT_EQ(part(sentence.mentions[0]), "b/web");
  EXPECT_EQ(sentence.mentions[0].namespace_name, "b");
  EXPECT_EQ(part(sentence.mentions[1]), "c/shop");
  EXPECT_EQ(sentence.mentions[1].kind, MentionKind::deployment);
  // Queues belong to no namespace.
  const ObjectName queue{.kind = MentionKind::pod, .namespace_name = {}, .name = "team"};
  const Sentence of_queue =
      write_reason(no_cluster(), {.code = ReasonCode::named, .arguments = {queue}});
  EXPECT_EQ(of_queue.text, "Queue team");
  EXPECT_TRUE(of_queue.mentions.empty());
}

TEST(PlanWriter, WhatIsAddedKeepsItsMentions) {
  PlanAsk ask;
  set_reason(no_cluster(), ask, {.code = ReasonCode::no_nodes});
  EXPECT_TRUE(ask.reason_mentions.known_for(ask.reason));
  const ObjectName taker{.kind = MentionKind::pod_group, .namespace_name = "b", .name = "gang"};
  add_reason(no_cluster(), ask, {.code = ReasonCode::nomination_ends_for, .arguments = {taker}});
  EXPECT_EQ(ask.reason, "there are no nodes, where PodGroup b/gang goes");
  ASSERT_TRUE(ask.reason_mentions.known_for(ask.reason));
  ASSERT_EQ(ask.reason_mentions.items().size(), 1U);
  EXPECT_EQ(ask.reason.substr(ask.reason_mentions.items()[0].at), "PodGroup b/gang goes");
  // A text without mentions may name anything, and so may the longer one.
  PlanAsk read_back{.reason = "has no room"};
  add_reason(no_cluster(), read_back, {.code = ReasonCode::pinned_reservation_ends});
  EXPECT_EQ(read_back.reason, "has no room; its reservation of the node ends");
  EXPECT_FALSE(read_back.reason_mentions.known_for(read_back.reason));
}

// It ends with the pod that uses the claim.
TEST(PlanWriter, ARefusalNamesTheUserOfAClaim) {
  const PlanRefusal refusal{.reason = RefusalReason::volume_in_use,
                            .detail = "data",
                            .nodes = 1,
                            .example = "n1",
                            .holders = {{.namespace_name = "b", .name = "db", .why = "uses"}}};
  const Sentence sentence = refusal_sentence(refusal);
  EXPECT_EQ(sentence.text, "persistentVolumeClaim data is in use by b/db");
  ASSERT_EQ(sentence.mentions.size(), 1U);
  EXPECT_EQ(sentence.text.substr(sentence.mentions[0].at), "b/db");
}

}  // namespace
}  // namespace makeway
