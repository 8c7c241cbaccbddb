// Layout: a line is begun by its item ("- " or "key:") and ended by its scalar. An object or array
// is laid out when its first item comes, because only then is it known not to be empty.
#include <algorithm>

#include "base/ascii.hpp"
#include "codec/writer.hpp"
#include "codec/yaml_scalar.hpp"

namespace makeway {
namespace {

bool is_letter(char byte) { return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z'); }

/// Bytes that can stand anywhere but at the start without meaning anything to YAML.
bool is_harmless(char byte) {
  return is_letter(byte) || is_digit(byte) || std::string_view("_-./+=@()$;").contains(byte);
}

/// Starts with a digit and could be an integer, float, sexagesimal number or timestamp to a reader.
bool looks_like_number(std::string_view text) {
  return std::ranges::all_of(text, [](char byte) {
    return is_digit(byte) || std::string_view("+-_.: eExXoObBaAcCdDfFtTzZ").contains(byte);
  });
}

bool can_stand_plain(std::string_view text) {
  if (text.empty()) return false;
  const char first = text.front();
  if (!is_letter(first) && !is_digit(first) && first != '_' && first != '/') return false;
  if (is_digit(first) && looks_like_number(text)) return false;
  for (std::size_t i = 1; i < text.size(); ++i) {
    if (is_harmless(text[i])) continue;
    // A colon ends a key when a blank follows, and blanks at the end would be lost.
    const bool separates = text[i] == ':' || text[i] == ' ';
    if (!separates || i + 1 == text.size() || text[i + 1] == ' ') return false;
  }
  std::string scratch;
  std::string lower(text.substr(0, 6));
  std::ranges::transform(lower, lower.begin(), lower_byte);
  return resolve_plain(text, scratch).kind == ScalarKind::string &&
         (text.size() > lower.size() || resolve_plain(lower, scratch).kind == ScalarKind::string);
}

// YAML forgets that a longer scalar could have been a key; libyaml counts 1024 characters.
constexpr std::size_t simple_key_bytes_max = 1'000;

}  // namespace

void YamlWriter::write_key(std::string_view text) {
  start_item();
  quoted_.clear();
  if (can_stand_plain(text)) {
    quoted_ += text;
  } else {
    append_yaml_string(quoted_, text);
  }
  if (quoted_.size() > simple_key_bytes_max) {
    out() += "? " + quoted_ + '\n';
    out().append(indents_.back(), ' ');
  } else {
    out() += quoted_;
  }
  out() += ':';
}

void YamlWriter::write_scalar(std::string_view text, bool is_string) {
  start_value();
  if (!levels().empty()) out() += ' ';
  if (!is_string || can_stand_plain(text)) {
    out() += text;
  } else {
    append_yaml_string(out(), text);
  }
  out() += '\n';
}

void YamlWriter::write_begin(bool is_object) {
  start_value();
  if (levels().empty()) {
    indents_.push_back(0);
    return;
  }
  // kubectl's habit: the dashes of a list stand right under their key.
  const bool under_key = levels().back().is_object && !is_object;
  indents_.push_back(indents_.back() + (under_key ? 0 : 2));
}

void YamlWriter::write_end() {
  const Level& level = levels().back();
  if (level.items == 0) {
    if (levels().size() > 1) out() += ' ';
    out() += level.is_object ? "{}\n" : "[]\n";
  }
  indents_.pop_back();
}

/// Before any value: the dash of an array's element, the separator of a further document.
void YamlWriter::start_value() {
  if (levels().empty()) {
    if (any_document_) out() += "---\n";
    any_document_ = true;
  } else if (!levels().back().is_object) {
    start_item();
    out() += '-';
  }
}

/// Brings the cursor to where the next "-" or key of the last level stands.
void YamlWriter::start_item() {
  const bool first = levels().back().items == 0;
  const bool nested = levels().size() > 1;
  if (first && nested && !levels()[levels().size() - 2].is_object) {
    out() += ' ';  // Right behind the dash of the array around.
    return;
  }
  if (first && nested) out() += '\n';
  out().append(indents_.back(), ' ');
}

}  // namespace makeway
