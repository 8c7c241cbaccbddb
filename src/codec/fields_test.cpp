// The decoders of Makeway's own kinds accept exactly what the rows say.
#include "codec/fields.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "codec/decode.hpp"
#include "codec/source.hpp"
#include "model/kinds.hpp"
#include "model/objects.hpp"

namespace makeway {
namespace {

struct Listed {
  std::string path;
  Field field;
};

std::vector<Listed> fields_of(std::string_view kind) {
  std::vector<Listed> fields;
  EXPECT_TRUE(each_field(
      kind, [&](const std::string& path, const Field& field) { fields.push_back({path, field}); }));
  return fields;
}

std::vector<std::string_view> decoded_kinds() {
  std::vector<std::string_view> kinds = own_kind_names();
  std::erase(kinds, "Configuration");
  return kinds;
}

/// Leaves of a document: "spec.kernels[].name" to JSON text.
using Leaves = std::map<std::string, std::string>;

std::string render(const Leaves& leaves) {
  std::map<std::string, Leaves> below;
  std::string members;
  const auto add = [&](const std::string& key, const std::string& value) {
    members += fmt::format("{}\"{}\":{}", members.empty() ? "" : ",", key, value);
  };
  for (const auto& [path, value] : leaves) {
    const std::size_t dot = path.find('.');
    if (dot == std::string::npos) {
      add(path, value);
    } else {
      below[path.substr(0, dot)][path.substr(dot + 1)] = value;
    }
  }
  for (const auto& [key, inner] : below) {
    const bool list = key.ends_with("[]");
    add(list ? key.substr(0, key.size() - 2) : key,
        list ? fmt::format("[{}]", render(inner)) : render(inner));
  }
  return fmt::format("{{{}}}", members);
}

std::string sample(const Field& field) {
  switch (field.type) {
    case FieldType::text:
    case FieldType::name: return R"("abc")";
    case FieldType::integer: return std::to_string(std::max<std::int64_t>(field.lowest, 0));
    case FieldType::boolean: return "true";
    case FieldType::time: return R"("2026-01-01T00:00:00Z")";
    case FieldType::duration: return R"("5m")";
    case FieldType::choice: return fmt::format("\"{}\"", field.choices.back());
    case FieldType::quantities: return R"({"cpu":"1"})";
    case FieldType::labels: return R"({"disk":"ssd"})";
    case FieldType::names: return R"(["abc"])";
    case FieldType::pod_template: return R"({"spec":{"containers":[{"name":"main"}]}})";
    case FieldType::object:
    case FieldType::objects:
    case FieldType::knob: break;
  }
  return {};
}

std::string parent_of(const std::string& path) { return path.substr(0, path.rfind('.')); }

/// A commit has an owner: an object that names one names both.
constexpr std::string_view lowered_commit = "status.claims[].victims[].committed";
constexpr std::string_view commit_owner = "status.claims[].victims[].deployment";

/// What a document needs in which something stands at or below `path`.
Leaves needed_for(std::string_view kind, const std::string& path) {
  Leaves leaves = {{"metadata.name", R"("a")"}};
  for (const Listed& each : fields_of(kind)) {
    const std::string parent = parent_of(each.path);
    const bool above = path == parent || path.starts_with(parent + ".");
    const bool in_list = parent.ends_with("[]");
    const bool of_kernels = parent == "spec.kernels[]";  // A session has at least one.
    if (each.field.required && !sample(each.field).empty() && (!in_list || above || of_kernels)) {
      leaves[each.path] = sample(each.field);
    }
  }
  if (path == lowered_commit) leaves[std::string(commit_owner)] = R"("abc")";
  return leaves;
}

struct Decoded {
  std::optional<Change> object;
  Problems problems;

  bool refuses(const std::string& field) const {
    return std::ranges::any_of(problems, [&](const Problem& problem) {
      return problem.field == field || problem.field.starts_with(field + "[");
    });
  }
};

class OneObject final : public ObjectSink {
 public:
  void object(const Change& object, const Origin& /*origin*/) override { found = object; }
  void own_document(std::string_view kind, std::string_view /*json*/,
                    const Origin& /*origin*/) override {
    ADD_FAILURE() << kind << " is no object of a cluster";
  }
  void workload(const ObjectType& type, std::string_view /*json*/,
                const Origin& /*origin*/) override {
    ADD_FAILURE() << type.kind << " is no object of a cluster";
  }
  std::optional<Change> found;
};

Decoded decode(std::string_view kind, Leaves leaves) {
  leaves["apiVersion"] = R"("makeway.dev/v1")";
  leaves["kind"] = fmt::format("\"{}\"", kind);
  ObjectDecoder decoder;
  OneObject sink;
  DecodeReport report;
  const PaddedText text(render(leaves));
  decoder.decode(text.view(), {}, sink, report);
  return {.object = sink.found, .problems = report.problems};
}

/// As problems name it: the only item of a list is the first.
std::string first_item(std::string path) {
  for (std::size_t at = path.find("[]"); at != std::string::npos; at = path.find("[]")) {
    path.replace(at, 2, "[0]");
  }
  return path;
}

std::string text_of_all(const Problems& problems) {
  std::string text;
  for (const Problem& problem : problems) text += problem.field + ": " + problem.message + "; ";
  return text;
}

template <class Test>
void for_each_leaf(const Test& test) {
  for (const std::string_view kind : decoded_kinds()) {
    for (const Listed& each : fields_of(kind)) {
      if (sample(each.field).empty()) continue;
      SCOPED_TRACE(fmt::format("{} {}", kind, each.path));
      test(kind, each.path, each.field);
    }
  }
}

/// What is written for people is skipped when it is read, whatever it says.
template <class Test>
void for_each_read_leaf(const Test& test) {
  for_each_leaf([&](std::string_view kind, const std::string& path, const Field& field) {
    if (!field.only_written) test(kind, path, field);
  });
}

TEST(Fields, EveryRowIsRead) {
  for_each_leaf([](std::string_view kind, const std::string& path, const Field& field) {
    Leaves leaves = needed_for(kind, path);
    const Decoded without = decode(kind, leaves);
    leaves[path] = sample(field);
    const Decoded with = decode(kind, leaves);
    ASSERT_TRUE(with.object) << text_of_all(with.problems);
    const bool says_something =
        !field.only_written && !field.required && sample(field) != field.fallback;
    if (says_something && without.object) {
      EXPECT_NE(*with.object, *without.object);
    }
    if (field.only_written) {
      EXPECT_EQ(*with.object, *without.object);
    }
  });
}

TEST(Fields, WhatHasNoRowIsRefusedWithTheNearest) {
  for_each_read_leaf([](std::string_view kind, const std::string& path, const Field& field) {
    Leaves leaves = needed_for(kind, path);
    leaves.erase(path);
    leaves[path + "x"] = sample(field);
    const Decoded decoded = decode(kind, leaves);
    EXPECT_FALSE(decoded.object);
    const auto found = std::ranges::find(decoded.problems, first_item(path + "x"), &Problem::field);
    ASSERT_NE(found, decoded.problems.end()) << text_of_all(decoded.problems);
    EXPECT_EQ(found->message, "there is no such field");
    EXPECT_EQ(found->remedy, fmt::format("did you mean {}?", field.key));
  });
}

TEST(Fields, RequiredIsWhatMayNotBeLeftOut) {
  for_each_read_leaf([](std::string_view kind, const std::string& path, const Field& field) {
    Leaves leaves = needed_for(kind, path);
    leaves.erase(path);
    // Something has to stand in a list for its item to be there.
    const std::string parent = parent_of(path);
    if (parent.ends_with("[]")) {
      for (const Listed& sibling : fields_of(kind)) {
        if (parent_of(sibling.path) != parent || sibling.path == path) continue;
        if (path == commit_owner && sibling.path == lowered_commit) continue;
        if (!sample(sibling.field).empty()) leaves[sibling.path] = sample(sibling.field);
      }
    }
    const Decoded decoded = decode(kind, leaves);
    EXPECT_EQ(decoded.object.has_value(), !field.required) << text_of_all(decoded.problems);
    if (field.required) {
      EXPECT_TRUE(decoded.refuses(first_item(path))) << text_of_all(decoded.problems);
    }
  });
}

TEST(Fields, TheFallbackIsWhatCountsWhenNothingIsSaid) {
  for_each_leaf([](std::string_view kind, const std::string& path, const Field& field) {
    if (field.fallback.empty()) return;
    Leaves leaves = needed_for(kind, path);
    const Decoded without = decode(kind, leaves);
    leaves[path] = std::string(field.fallback);
    const Decoded with = decode(kind, leaves);
    ASSERT_TRUE(with.object && without.object)
        << text_of_all(with.problems) << text_of_all(without.problems);
    EXPECT_EQ(*with.object, *without.object);
  });
}

TEST(Fields, LimitsAreThoseOfTheRow) {
  for_each_read_leaf([](std::string_view kind, const std::string& path, const Field& field) {
    if (field.type != FieldType::integer) return;
    Leaves leaves = needed_for(kind, path);
    for (const auto& [value, good] : {std::pair{field.lowest, true},
                                      {field.highest, true},
                                      {field.lowest - 1, false},
                                      {field.highest + 1, false}}) {
      leaves[path] = std::to_string(value);
      const Decoded decoded = decode(kind, leaves);
      EXPECT_EQ(decoded.object.has_value(), good) << value << text_of_all(decoded.problems);
      if (!good) {
        EXPECT_TRUE(decoded.refuses(first_item(path)));
      }
    }
  });
}

TEST(Fields, ChoicesAreThoseOfTheRow) {
  for_each_read_leaf([](std::string_view kind, const std::string& path, const Field& field) {
    if (field.type != FieldType::choice) return;
    Leaves leaves = needed_for(kind, path);
    for (const std::string_view choice : field.choices) {
      leaves[path] = fmt::format("\"{}\"", choice);
      EXPECT_TRUE(decode(kind, leaves).object) << choice;
    }
    leaves[path] = R"("sometimes")";
    EXPECT_TRUE(decode(kind, leaves).refuses(first_item(path)));
  });
}

TEST(Fields, NullSaysNothing) {
  for_each_leaf([](std::string_view kind, const std::string& path, const Field& field) {
    if (field.required) return;
    Leaves leaves = needed_for(kind, path);
    const Decoded without = decode(kind, leaves);
    leaves[path] = "null";
    const Decoded with = decode(kind, leaves);
    ASSERT_TRUE(with.object && without.object) << text_of_all(with.problems);
    EXPECT_EQ(parent_of(path).ends_with("[]") || *with.object == *without.object, true);
  });
}

TEST(Fields, EveryRowIsDocumentedAndKnobsAreRows) {
  for (const std::string_view kind : own_kind_names()) {
    std::size_t count = 0;
    for (const Listed& each : fields_of(kind)) {
      ++count;
      EXPECT_FALSE(each.field.text.empty()) << kind << " " << each.path;
      EXPECT_FALSE(type_text(each.field).empty()) << kind << " " << each.path;
      EXPECT_TRUE(each.path.starts_with("spec.") || each.path.starts_with("status."));
    }
    EXPECT_GT(count, 3U) << kind;
  }
  EXPECT_FALSE(each_field("Pod", [](const std::string&, const Field&) {}));
}

}  // namespace
}  // namespace makeway
