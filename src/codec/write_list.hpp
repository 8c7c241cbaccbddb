// Lists and objects of a document, each in one call.
#pragma once

#include <string_view>
#include <type_traits>

#include "codec/writer.hpp"

namespace makeway {

/// A list: an object for each item, with the fields that `write_fields(writer, item)` writes, or
/// `write_fields(item)`.
template <class Items, class WriteFields>
void write_list(DocumentWriter& writer, std::string_view key, Items&& items,
                const WriteFields& write_fields) {
  writer.key(key);
  writer.begin_array();
  for (const auto& item : items) {
    writer.begin_object();
    if constexpr (std::is_invocable_v<const WriteFields&, decltype(item)>) {
      write_fields(item);
    } else {
      write_fields(writer, item);
    }
    writer.end_object();
  }
  writer.end_array();
}

/// A list of texts or of integers.
template <class Items>
void write_list(DocumentWriter& writer, std::string_view key, Items&& items) {
  writer.key(key);
  writer.begin_array();
  for (const auto& item : items) {
    if constexpr (std::is_integral_v<std::remove_cvref_t<decltype(item)>>) {
      writer.integer(item);
    } else {
      writer.string(item);
    }
  }
  writer.end_array();
}

/// An object with the fields that `write_fields()` writes.
template <class WriteFields>
void write_object(DocumentWriter& writer, std::string_view key, const WriteFields& write_fields) {
  writer.key(key);
  writer.begin_object();
  write_fields();
  writer.end_object();
}

}  // namespace makeway
