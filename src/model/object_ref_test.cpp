#include "model/object_ref.hpp"

#include <gtest/gtest.h>

#include "model/object_at.hpp"
#include "model/request.hpp"

namespace makeway {
namespace {

TEST(ObjectRef, ItsTextIsReadBack) {
  for (const std::string text :
       {"Pod default/web", "PodGroup shop/training", "Queue team", "ReplicaSchedule shop/web",
        "Session team/train", "PersistentVolumeClaim shop/data", "Deployment shop/web", "Queue",
        "Pod team/train/main"}) {
    const auto ref = parse_ref(text);
    ASSERT_TRUE(ref.has_value()) << text;
    EXPECT_EQ(ref_text(*ref), text);
  }
  EXPECT_EQ(parse_ref("Pod team/train/main")->name, "train/main");
  EXPECT_EQ(parse_ref("Queue team")->namespace_name, "");
}

TEST(ObjectRef, NoneHasNoText) {
  EXPECT_EQ(ref_text(std::nullopt), "");
  EXPECT_EQ(ref_text(std::optional(pod_ref("default", "web"))), "Pod default/web");
}

TEST(ObjectRef, OtherTextsAreNone) {
  for (const std::string_view text : {"", "Node n1", "default/web", "Podx a/b", "PodGroups a/b"}) {
    EXPECT_FALSE(parse_ref(text).has_value()) << text;
  }
}

TEST(ObjectRef, APlaneTellsObjectsApart) {
  const ObjectRef east = pod_ref("shop", "web", "east");
  EXPECT_NE(east, pod_ref("shop", "web"));
  EXPECT_EQ(ref_text(east), "Pod shop/web");
  EXPECT_EQ(ref_and_plane_text(east), "Pod shop/web of plane east");
  EXPECT_EQ(store_key(east), (ChangeKey{ObjectKind::pod, "east", "shop", "web"}));
}

TEST(ObjectRef, ADeploymentIsNeitherAskedForNorStored) {
  const ObjectRef deployment{
      .kind = RefKind::deployment, .namespace_name = "shop", .name = "web", .plane = "east"};
  EXPECT_FALSE(store_key(deployment).has_value());
  EXPECT_FALSE(as_ask(deployment).has_value());
  const AskName session{.kind = AskKind::session, .namespace_name = "team", .name = "train"};
  EXPECT_EQ(as_ask(ref_of(session)), session);
}

}  // namespace
}  // namespace makeway
