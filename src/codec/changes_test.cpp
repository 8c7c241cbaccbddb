// DESIGN (Control, Journal): a change is read as it was written, whatever kind it is of.
#include "codec/changes.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "support/property.hpp"
#include "support/random_objects.hpp"
#include "support/random_world.hpp"

namespace makeway {
namespace {

std::string text_of(const std::vector<Change>& changes) {
  std::string text;
  JsonWriter writer(text, JsonStyle::compact);
  for (const Change& change : changes) write_change(writer, change);
  return text;
}

std::vector<Change> changes_of(std::string_view text) {
  std::vector<Change> changes;
  const auto error = read_changes(text, [&](const Change& change) { changes.push_back(change); });
  EXPECT_FALSE(error.has_value()) << error->message;
  return changes;
}

std::string error_of(std::string_view text) {
  const auto error = read_changes(text, [](const Change&) {});
  return error ? error->message : "";
}

TEST(ChangesTest, ARemovalIsALineLikeAnObject) {
  const std::vector<Change> changes = {
      Removal{.kind = ObjectKind::pod, .namespace_name = "shop", .name = "web"},
      Removal{.kind = ObjectKind::node, .name = "n1", .plane = "east"}};
  EXPECT_EQ(text_of(changes),
            "{\"apiVersion\":\"makeway.dev/v1\",\"kind\":\"Removal\",\"of\":\"Pod\","
            "\"namespace\":\"shop\",\"name\":\"web\"}\n"
            "{\"apiVersion\":\"makeway.dev/v1\",\"kind\":\"Removal\",\"of\":\"Node\","
            "\"name\":\"n1\",\"plane\":\"east\"}\n");
  EXPECT_EQ(changes_of(text_of(changes)), changes);
  EXPECT_TRUE(changes_of("").empty());
}

TEST(ChangesTest, RandomChangesOfAllKindsComeBackInOrder) {
  for_one_case_in(10, "changes come back", [](Prng& random) {
    std::vector<Change> changes = random_world_case(random).objects;
    RandomClusterOptions options = random_options(random);
    options.features.huge_amounts = false;  // Beyond what a quantity may say.
    for (Change& change : random_changes(random, options)) changes.push_back(std::move(change));
    // Random objects say the same in several ways, and more than scheduling reads.
    const std::vector<Change> canonical = changes_of(text_of(changes));
    EXPECT_EQ(canonical.size(), changes.size());
    const std::string text = text_of(canonical);
    const std::vector<Change> read = changes_of(text);
    EXPECT_EQ(text_of(read), text);
    EXPECT_TRUE(read == canonical);
  });
}

TEST(ChangesTest, WhatIsNoChangeIsSaid) {
  EXPECT_EQ(error_of(R"({"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"x"}})"),
            "a Deployment is no change");
  EXPECT_EQ(error_of(R"({"apiVersion":"v1","kind":"Secret"})"), "a v1 Secret is no change");
  EXPECT_EQ(error_of(R"({"apiVersion":"makeway.dev/v1","kind":"Removal","of":"Cat","name":"x"})"),
            "a Removal is no change");
  EXPECT_NE(error_of("{"), "");
}

}  // namespace
}  // namespace makeway
