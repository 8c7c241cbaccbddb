// SPEC section 8: what an object says is read by its owner; names of others may be another
// tenant's.
#include "kube/tenant_text.hpp"

#include <gtest/gtest.h>

#include <utility>

namespace makeway::kube {
namespace {

/// As a reader of namespace "a" has it.
std::string shown(Sentence sentence) {
  const std::string text = sentence.text;
  return tenant_text(text, Mentions(std::move(sentence)), "a");
}

Sentence around(std::string_view before, MentionKind kind, std::string_view namespace_name,
                std::string_view words, std::string_view after) {
  Sentence sentence;
  sentence.add(before);
  sentence.add_mention(kind, namespace_name, words);
  sentence.add(after);
  return sentence;
}

TEST(TenantText, ShowsTheKindOfWhatIsInOtherNamespaces) {
  EXPECT_EQ(shown(around("only ", MentionKind::session, "b", "Session b/high", " may preempt")),
            "only a session of another namespace may preempt");
  EXPECT_EQ(shown(around("fits once ", MentionKind::kernel, "b", "b/high/main", " has left")),
            "fits once a kernel of another namespace has left");
  EXPECT_EQ(shown(around("", MentionKind::pod, "b", "Pod b/web of plane east", "")),
            "a pod of another namespace");
  EXPECT_EQ(
      shown(around("lost to ", MentionKind::replica_schedule, "b", "ReplicaSchedule b/r", "")),
      "lost to a replica schedule of another namespace");
  EXPECT_EQ(shown(around("1 replica of ", MentionKind::deployment, "b", "b/web", " goes")),
            "1 replica of a deployment of another namespace goes");
  EXPECT_EQ(shown(around("for ", MentionKind::pod_group, "b", "PodGroup b/gang", "")),
            "for a pod group of another namespace");
  EXPECT_EQ(shown(around("a minute in ", MentionKind::namespace_name, "b", "namespace b", ")")),
            "a minute in another namespace)");
}

TEST(TenantText, ShowsWhatIsInItsOwnNamespace) {
  EXPECT_EQ(shown(around("only ", MentionKind::session, "a", "Session a/high", " may preempt")),
            "only Session a/high may preempt");
  EXPECT_EQ(shown(around("in ", MentionKind::namespace_name, "a", "namespace a", "")),
            "in namespace a");
}

TEST(TenantText, EachMentionIsShownByItself) {
  Sentence sentence = around("", MentionKind::pod, "b", "b/web", " and ");
  sentence.add(around("", MentionKind::pod, "a", "a/web", " and "));
  sentence.add(around("", MentionKind::pod, "c", "c/web", "."));
  EXPECT_EQ(shown(std::move(sentence)),
            "a pod of another namespace and a/web and a pod of another namespace.");
}

TEST(TenantText, AWordThatLooksLikeANameIsNone) {
  // A namespace may be called as a label or a resource begins.
  EXPECT_EQ(shown({.text = "short of nvidia.com/gpu by 2; taint b/dedicated is not tolerated"}),
            "short of nvidia.com/gpu by 2; taint b/dedicated is not tolerated");
}

TEST(TenantText, ATextWhoseNamesAreNotKnownIsNotShown) {
  EXPECT_EQ(tenant_text("only Session b/high may preempt", Mentions(), "a"), unknown_names_text);
  // It was changed after its mentions were found.
  const Mentions before(Sentence{.text = "has no room"});
  EXPECT_EQ(tenant_text("has no room", before, "a"), "has no room");
  EXPECT_EQ(tenant_text("has no room beside b/web", before, "a"), unknown_names_text);
  EXPECT_EQ(tenant_text("beside b/web", before, "a"), unknown_names_text) << "of the same length";
}

}  // namespace
}  // namespace makeway::kube
