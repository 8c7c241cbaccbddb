#include "scenarios/folded_json.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <utility>
#include <vector>

#include "scenarios/sandbox.hpp"

namespace makeway {
namespace {

constexpr std::size_t max_columns = 100;

/// A value: one line, or the lines that open and close it and the values between them.
struct Block {
  std::string open;  ///< With the key: `"asks": [`.
  std::vector<Block> inside;
  std::string close;  ///< Empty: it is one line.
};

std::string_view without_indent(std::string_view line) {
  return line.substr(std::min(line.find_first_not_of(' '), line.size()));
}

Block read_block(std::span<const std::string> lines, std::size_t& at) {
  Block block{.open = std::string(without_indent(lines[at])), .inside = {}, .close = {}};
  ++at;
  if (!block.open.ends_with('{') && !block.open.ends_with('[')) return block;
  while (at < lines.size()) {
    const std::string_view line = without_indent(lines[at]);
    if (line.starts_with('}') || line.starts_with(']')) {
      block.close = line;
      ++at;
      return block;
    }
    block.inside.push_back(read_block(lines, at));
  }
  return block;
}

std::string in_one_line(const Block& block) {
  std::string text = block.open;
  for (const Block& child : block.inside) {
    if (&child != &block.inside.front()) text += ' ';
    text += in_one_line(child);
  }
  return text + block.close;
}

/// Members and elements one after the other, as many as fit in a line; each object of a list has
/// lines of its own.
class FoldedText {
 public:
  void write(const Block& block, std::size_t indent) {
    const std::string line = in_one_line(block);
    if (block.close.empty() || fits(line, indent)) return add(line, indent);
    add(block.open, indent);
    std::string joined;
    for (const Block& child : block.inside) {
      const std::string words = in_one_line(child);
      const bool is_object_of_list = block.open.ends_with('[') && !child.close.empty();
      const bool is_alone = is_object_of_list || !fits(words, indent + 2);
      if (!joined.empty() && (is_alone || !fits(joined + " " + words, indent + 2))) {
        add(std::exchange(joined, {}), indent + 2);
      }
      if (is_alone) {
        write(child, indent + 2);
      } else {
        joined += joined.empty() ? words : " " + words;
      }
    }
    if (!joined.empty()) add(joined, indent + 2);
    add(block.close, indent);
  }

  std::string text;

 private:
  static bool fits(std::string_view line, std::size_t indent) {
    return indent + line.size() <= max_columns;
  }

  void add(std::string_view line, std::size_t indent) {
    text += fmt::format("{:{}}{}\n", "", indent, line);
  }
};

/// The member of this key, or the element of this number.
const Block* find_inside(const Block& block, std::string_view part) {
  if (block.open.ends_with('{')) {
    const std::string key = fmt::format("\"{}\": ", part);
    const auto found = std::ranges::find_if(
        block.inside, [&](const Block& child) { return child.open.starts_with(key); });
    return found == block.inside.end() ? nullptr : &*found;
  }
  std::size_t number = 0;
  const auto read = std::from_chars(part.begin(), part.end(), number);
  const bool is_number = read.ec == std::errc() && read.ptr == part.end();
  return is_number && number < block.inside.size() ? &block.inside[number] : nullptr;
}

void drop_comma(std::string& line) {
  if (line.ends_with(',')) line.pop_back();
}

Result<Block> find_block(const Block& root, std::string_view path) {
  const Block* block = &root;
  std::string_view rest = path;
  bool is_member = false;
  while (block != nullptr && !rest.empty()) {
    const std::size_t dot = std::min(rest.find('.'), rest.size());
    is_member = block->open.ends_with('{');
    block = find_inside(*block, rest.substr(0, dot));
    rest.remove_prefix(std::min(dot + 1, rest.size()));
  }
  if (block == nullptr) return input_error(fmt::format("there is no {}", path));
  Block found = *block;
  if (is_member) found.open.erase(0, found.open.find("\": ") + 3);
  found.open.insert(0, fmt::format("{}: ", path));
  drop_comma(found.close.empty() ? found.open : found.close);
  return found;
}

}  // namespace

Result<std::string> folded_json(std::string_view json, std::span<const std::string> paths) {
  const std::vector<std::string> lines = lines_in(json);
  if (lines.empty()) return input_error("there is no JSON");
  std::size_t at = 0;
  const Block root = read_block(lines, at);
  if (at != lines.size()) return input_error("this is not one JSON document");
  FoldedText folded;
  if (paths.empty()) folded.write(root, 0);
  for (const std::string& path : paths) {
    const Result<Block> block = find_block(root, path);
    if (!block) return std::unexpected(block.error());
    folded.write(*block, 0);
  }
  return std::move(folded.text);
}

}  // namespace makeway
