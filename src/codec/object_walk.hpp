// One walk over an object or the items of a list, part by part, for readers that want a few fields
// of each and no store. What cannot be read is left out: the decoder of the text reports it.
#pragma once

#include <string_view>
#include <vector>

#include "codec/json_cursor.hpp"
#include "codec/source.hpp"

namespace makeway {

template <class Object>
struct WalkedObjects {
  Object whole;               ///< The object itself, or what the list says about all.
  std::vector<Object> items;  ///< Of a list.
  bool is_list = false;
};

/// Calls `read_part(reader, key, value, path, object)` for every field of each. Text that is no
/// object gives one without anything.
template <class Object, class ReadPart>
WalkedObjects<Object> walk_objects(std::string_view padded_json, const ReadPart& read_part) {
  WalkedObjects<Object> walked;
  Problems problems;
  JsonReader reader(problems);
  const FieldPath root;
  simdjson::ondemand::parser parser;
  simdjson::ondemand::document document;
  JsonObjectCursor object;
  const std::size_t room = padded_json.size() + text_padding;
  if (parser.iterate(padded_json.data(), padded_json.size(), room).get(document) !=
          simdjson::SUCCESS ||
      document.get_object().get(object) != simdjson::SUCCESS) {
    return walked;
  }
  const auto read_item = [&](const JsonField& item) {
    Object& each = walked.items.emplace_back();
    item.each_field([&](const JsonField& field) { read_part(field, each); });
  };
  reader.each_field(object, root, [&](const JsonField& value) {
    if (value.key != "items") return read_part(value, walked.whole);
    walked.is_list = true;
    value.each_item(read_item);
  });
  return walked;
}

}  // namespace makeway
