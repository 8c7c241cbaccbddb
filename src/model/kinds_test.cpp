#include "model/kinds.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "model/cluster.hpp"
#include "model/normalize.hpp"
#include "model/object_text.hpp"

namespace makeway {
namespace {

template <class Object>
Object named(const std::string& name, const std::string& plane) {
  Object object;
  object.name = name;
  object.plane = plane;
  if constexpr (row_of<Object>.scope == Scope::in_namespace) object.namespace_name = "shop";
  return object;
}

template <class Object>
Removal removal_of(const Object& object) {
  const ObjectKey key = owned(key_of(object));
  return {.kind = row_of<Object>.kind,
          .namespace_name = key.namespace_name,
          .name = key.name,
          .plane = key.plane};
}

template <class Object>
std::vector<std::string> texts(const Cluster& cluster) {
  std::vector<std::string> all;
  cluster.each<Object>([&](const Object& object) { all.push_back(object_text(object)); });
  return all;
}

TEST(Kinds, EveryKindIsStoredListedAndRemovedAlike) {
  each_kind([](const auto& kind) {
    using Object = std::decay_t<decltype(kind)>::Type;
    SCOPED_TRACE(row_of<Object>.name);
    auto object = named<Object>("a", "");
    normalize(object);
    Cluster cluster;
    EXPECT_TRUE(cluster.apply(Change(object)));
    EXPECT_FALSE(cluster.apply(Change(object))) << "it was there";
    const std::string space = row_of<Object>.scope == Scope::in_namespace ? "shop/" : "";
    const std::string text = std::string(row_of<Object>.name) + " " + space + "a";
    EXPECT_EQ(texts<Object>(cluster), std::vector<std::string>{text});
    EXPECT_EQ(texts<Object>(cluster.compacted()), std::vector<std::string>{text});
    EXPECT_EQ(object_text(Change(object)), text);
    EXPECT_TRUE(cluster.apply(Change(removal_of(object))));
    EXPECT_FALSE(cluster.apply(Change(removal_of(object)))) << "it was gone";
    EXPECT_TRUE(texts<Object>(cluster).empty());
  });
}

TEST(Kinds, ThePlaneIsPartOfEveryKey) {
  each_kind([](const auto& kind) {
    using Object = std::decay_t<decltype(kind)>::Type;
    SCOPED_TRACE(row_of<Object>.name);
    Cluster cluster;
    for (const char* const plane : {"west", "", "east"}) {
      EXPECT_TRUE(cluster.apply(named<Object>("a", plane)));
    }
    EXPECT_FALSE(cluster.apply(named<Object>("a", "east")));
    const std::string home = object_text(named<Object>("a", ""));
    const std::vector<std::string> all = {home, home + " of plane east", home + " of plane west"};
    EXPECT_EQ(texts<Object>(cluster), all) << "home first";
    EXPECT_EQ(texts<Object>(cluster.compacted()), all);
    EXPECT_TRUE(cluster.apply(removal_of(named<Object>("a", ""))));
    EXPECT_FALSE(cluster.apply(removal_of(named<Object>("a", "north"))));
    EXPECT_EQ(texts<Object>(cluster).size(), 2U);
  });
}

TEST(Kinds, NormalizingTwiceIsNormalizingOnce) {
  Queue queue{.name = "a",
              .guarantee = {{"memory", 1}, {"cpu", 0}, {"cpu", 2}},
              .limit = {{"memory", 0}, {"cpu", 3}}};
  normalize(queue);
  EXPECT_EQ(queue.guarantee, (Amounts{{"cpu", 2}, {"memory", 1}}));
  EXPECT_EQ(queue.limit, (Quotas{{"cpu", 3}, {"memory", 0}})) << "none of it is said, too";
  Queue again = queue;
  normalize(again);
  EXPECT_EQ(again, queue);
}

}  // namespace
}  // namespace makeway
