// Whatever the bytes: reading never crashes, what is accepted is valid JSON, and written as YAML
// and read again it is the same tree.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/check.hpp"
#include "codec/json_value.hpp"
#include "codec/writer.hpp"
#include "codec/yaml.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(bytes), size);
  // Small limits, so that the fuzzer's small inputs reach them.
  const makeway::YamlLimits limits{.depth_max = 16, .anchors_max = 20, .alias_bytes_max = 4'096};
  std::vector<makeway::YamlDocument> documents;
  for (const makeway::Problem& problem : makeway::yaml_to_json(text, "fuzz", limits, documents)) {
    CHECK(!problem.message.empty());
  }
  for (const makeway::YamlDocument& document : documents) {
    const auto value = makeway::parse_json_value(document.json);
    CHECK(value.has_value(), "accepted YAML became invalid JSON");
    std::string yaml;
    makeway::YamlWriter writer(yaml);
    makeway::write_value(*value, writer);
    std::vector<makeway::YamlDocument> again;
    CHECK(makeway::yaml_to_json(yaml, "again", {}, again).empty(), "our own YAML is refused");
    CHECK(again.size() == 1);
    CHECK(makeway::parse_json_value(again[0].json) == *value, "the tree has changed");
  }
  return 0;
}
