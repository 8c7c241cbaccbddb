#include "codec/writer.hpp"

namespace makeway {

void JsonWriter::write_key(std::string_view text) {
  start_item();
  append_json_string(out(), text);
  out() += style_ == JsonStyle::pretty ? ": " : ":";
}

void JsonWriter::write_scalar(std::string_view text, bool is_string) {
  if (!levels().empty() && !levels().back().is_object) start_item();
  if (is_string) {
    append_json_string(out(), text);
  } else {
    out() += text;
  }
  if (levels().empty()) out() += '\n';
}

void JsonWriter::write_begin(bool is_object) {
  if (!levels().empty() && !levels().back().is_object) start_item();
  out() += is_object ? '{' : '[';
}

void JsonWriter::write_end() {
  const Level& level = levels().back();
  if (level.items != 0) start_line(levels().size() - 1);
  out() += level.is_object ? '}' : ']';
  const bool complete = levels().size() == 1;
  if (complete) out() += '\n';
  constexpr std::size_t piece_min = std::size_t{1} << 16U;
  if (!sink_ || (!complete && out().size() < piece_min)) return;
  sink_(out());
  out().clear();
}

/// What stands between the members of an object and the elements of an array.
void JsonWriter::start_item() {
  if (levels().back().items != 0) out() += ',';
  start_line(levels().size());
}

void JsonWriter::start_line(std::size_t depth) {
  if (style_ == JsonStyle::compact) return;
  out() += '\n';
  out().append(2 * depth, ' ');
}

}  // namespace makeway
