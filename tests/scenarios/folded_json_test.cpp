#include "scenarios/folded_json.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace makeway {
namespace {

std::string folded(std::string_view json, const std::vector<std::string>& paths = {}) {
  const Result<std::string> text = folded_json(json, paths);
  return text ? *text : "error: " + text.error().message;
}

constexpr std::string_view small_plan = R"({
  "id": "a",
  "asks": [
    {
      "name": "b",
      "nodes": [
        "n1",
        "n2"
      ]
    }
  ],
  "cost": {}
}
)";

TEST(FoldedJson, WhatFitsInALineStandsInALine) {
  EXPECT_EQ(folded(small_plan),
            "{\"id\": \"a\", \"asks\": [{\"name\": \"b\", \"nodes\": [\"n1\", \"n2\"]}], \"cost\": "
            "{}}\n");
  const std::string wide(80, 'w');
  EXPECT_EQ(folded("{\n  \"a\": 1,\n  \"b\": 2,\n  \"c\": \"" + wide + "\"\n}\n"),
            "{\n  \"a\": 1, \"b\": 2,\n  \"c\": \"" + wide + "\"\n}\n");
}

TEST(FoldedJson, APathShowsOneValue) {
  EXPECT_EQ(folded(small_plan, {"asks.0.nodes", "cost"}),
            "asks.0.nodes: [\"n1\", \"n2\"]\ncost: {}\n");
  EXPECT_EQ(folded(small_plan, {"asks.1"}), "error: there is no asks.1");
  EXPECT_EQ(folded(small_plan, {"asks.0.node"}), "error: there is no asks.0.node");
}

}  // namespace
}  // namespace makeway
