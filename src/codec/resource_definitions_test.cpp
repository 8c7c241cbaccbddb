// Definitions of our kinds (SPEC 8): deploy/crds is what the tables of fields say.
#include "codec/resource_definitions.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "codec/fields.hpp"
#include "codec/json_value.hpp"
#include "codec/writer.hpp"

namespace makeway {
namespace {

std::string definition_json(std::string_view kind) {
  std::string text;
  JsonWriter writer(text, JsonStyle::compact);
  write_definition(writer, kind);
  return text;
}

TEST(ResourceDefinitions, EveryOwnKindHasOneAndItIsADocument) {
  for (const std::string_view kind : own_kind_names()) {
    const std::string text = definition_json(kind);
    EXPECT_TRUE(parse_json_value(text).has_value()) << kind;
    EXPECT_TRUE(text.contains(fmt::format(R"("name":"{}")", definition_name(kind))));
    EXPECT_EQ(kind != "Configuration", text.contains(R"("subresources":{"status":{}})")) << kind;
  }
}

/// Each leaf of a row is in the schema with its documentation: nothing is left out.
TEST(ResourceDefinitions, EveryFieldIsDescribed) {
  for (const std::string_view kind : own_kind_names()) {
    const std::string text = definition_json(kind);
    each_field(kind, [&](const std::string& path, const Field& field) {
      std::string described =
          fmt::format("\"{}\":{{\"description\":", field.type == FieldType::knob
                                                       ? path.substr(path.rfind('.') + 1)
                                                       : std::string(field.key));
      append_json_string(described, field.text);
      EXPECT_TRUE(text.contains(described)) << kind << " " << path;
    });
  }
}

TEST(ResourceDefinitions, LimitsChoicesAndDefaultsAreThoseOfTheRows) {
  const std::string queue = definition_json("Queue");
  EXPECT_TRUE(queue.contains(
      R"("type":"integer","format":"int64","minimum":1,"maximum":1000000,"default":1})"));
  EXPECT_TRUE(queue.contains(R"("type":"boolean","default":true})"));
  const std::string partition = definition_json("Partition");
  EXPECT_TRUE(partition.contains(R"("enum":["cancel","requeue","suspend"],"default":"cancel")"));
  EXPECT_TRUE(partition.contains(R"("required":["resourceGroup"])"));
  const std::string session = definition_json("Session");
  EXPECT_TRUE(session.contains(R"("x-kubernetes-list-map-keys":["name"])"));
}

TEST(ResourceDefinitions, DeployHoldsThem) {
  const char* const folder = std::getenv("MAKEWAY_SOURCE_DIR");  // ctest sets it.
  const std::filesystem::path crds =
      std::filesystem::path(folder == nullptr ? "." : folder) / "deploy" / "crds";
  for (const std::string_view kind : own_kind_names()) {
    std::string text =
        "# Written by `makeway crds`; MAKEWAY_REWRITE=1 codec_tests writes it anew.\n";
    YamlWriter writer(text);
    write_definition(writer, kind);
    const std::filesystem::path path = crds / fmt::format("{}.yaml", definition_name(kind));
    if (std::getenv("MAKEWAY_REWRITE") != nullptr) {
      std::filesystem::create_directories(crds);
      std::ofstream(path) << text;
    }
    std::ifstream file(path);
    ASSERT_TRUE(file.is_open()) << path;
    const std::string found{std::istreambuf_iterator<char>(file), {}};
    EXPECT_TRUE(found == text) << path << " is old: MAKEWAY_REWRITE=1 writes it anew";
  }
}

}  // namespace
}  // namespace makeway
