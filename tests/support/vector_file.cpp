#include "support/vector_file.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>

#include "codec/source.hpp"
#include "codec/writer.hpp"

namespace makeway {

std::string source_folder() {
  const char* const folder = std::getenv("MAKEWAY_SOURCE_DIR");
  return folder == nullptr ? "." : folder;
}

std::string json_text(const JsonValue& value) {
  std::string text;
  JsonWriter writer(text, JsonStyle::compact);
  write_value(value, writer);
  return text;
}

std::size_t for_each_vector(std::string_view file,
                            const std::function<void(const VectorCase&)>& check) {
  const Result<SourceText> source =
      read_source({.path = source_folder() + "/tests/vectors/" + std::string(file)});
  if (!source) {
    ADD_FAILURE() << source.error().message;
    return 0;
  }
  std::string_view rest = source->text.view();
  std::size_t cases = 0;
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find('\n'), rest.size());
    auto line = parse_json_value(rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
    if (!line) {
      ADD_FAILURE() << to_text(line.error());
      return cases;
    }
    ++cases;
    const std::string id = *line->find("id")->as_string();
    SCOPED_TRACE(id);
    check({.id = id, .line = *std::move(line)});
  }
  return cases;
}

}  // namespace makeway
