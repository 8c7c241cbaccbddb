#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/commands.hpp"
#include "cli/help.hpp"
#include "cli/palette.hpp"
#include "cli/table.hpp"
#include "cli/text.hpp"
#include "codec/fields.hpp"
#include "model/knobs.hpp"

namespace makeway::cli {
namespace {

struct Explained {
  std::string path;  ///< "queue.spec.weight": as it is asked for, lists without brackets.
  Field field;
};

std::string as_asked(std::string_view kind, std::string_view path) {
  std::string text = lower_case(kind);
  text += '.';
  for (const char byte : path) {
    if (byte != '[' && byte != ']') text += byte;
  }
  return text;
}

/// Of all kinds but Configuration, whose knobs `config explain` documents.
const std::vector<Explained>& all_fields() {
  static const std::vector<Explained> fields = [] {
    std::vector<Explained> all;
    for (const std::string_view kind : own_kind_names()) {
      if (kind == "Configuration") continue;
      each_field(kind, [&](const std::string& path, const Field& field) {
        all.push_back({as_asked(kind, path), field});
      });
    }
    return all;
  }();
  return fields;
}

const std::vector<std::string>& all_kinds() {
  static const std::vector<std::string> kinds = [] {
    std::vector<std::string> all;
    for (const std::string_view kind : own_kind_names()) {
      if (kind != "Configuration") all.push_back(lower_case(kind));
    }
    return all;
  }();
  return kinds;
}

std::string says(const Field& field) {
  if (field.only_written) return "written for people";
  if (field.required) return "required";
  return std::string(field.fallback);
}

std::string explanation(const Explained& explained, std::size_t width) {
  std::string text =
      fmt::format("{}\n{}\n", explained.path, wrapped(explained.field.text, 2, width));
  const auto line = [&](std::string_view name, std::string_view value) {
    std::string body = wrapped(value, 12, width);
    body.replace(0, name.size() + 2, fmt::format("  {}", name));
    text += body;
  };
  line("Value:", type_text(explained.field));
  if (!says(explained.field).empty()) {
    line(explained.field.fallback.empty() ? "Note:" : "Default:", says(explained.field));
  }
  return text;
}

/// The fields at and below a path; empty: there are none.
std::string field_table(std::string_view path) {
  Table table({{"FIELD"}, {"DEFAULT"}, {"TAKES"}});
  const std::string below = fmt::format("{}.", path);
  for (const Explained& each : all_fields()) {
    if (!each.path.starts_with(below)) continue;
    table.row({{each.path.substr(below.size())}, {says(each.field)}, {type_text(each.field)}});
  }
  return table.empty() ? std::string{} : table.text(Palette(false));
}

}  // namespace

std::vector<std::string_view> explained_paths() {
  std::vector<std::string_view> paths(all_kinds().begin(), all_kinds().end());
  for (const Explained& each : all_fields()) paths.push_back(each.path);
  return paths;
}

ExitStatus run_explain(const Arguments& arguments, Terminal& terminal) {
  const std::string& word = arguments.operands().front();
  const std::string kind = lower_case(word.substr(0, word.find('.')));
  const std::string path = kind + word.substr(kind.size());
  const std::size_t width = palette_for_out(terminal, "never").text_width();
  std::string text;
  for (const Explained& each : all_fields()) {
    if (each.path == path) text = explanation(each, width);
  }
  const std::string below = field_table(path);
  if (text.empty() && !below.empty()) text = printable(path) + "\n";
  if (!text.empty() && !below.empty()) text += "\n";
  text += below;
  if (!text.empty()) {
    terminal.out.write(text);
    return ExitStatus::done;
  }
  const std::string_view nearest = nearest_of(explained_paths(), path);
  const std::string remedy =
      nearest.empty() ? fmt::format("kinds with fields of ours: {}", fmt::join(all_kinds(), ", "))
                      : fmt::format("did you mean {}?", nearest);
  return usage_error("explain", fmt::format("there is no field '{}'; {}", shorten(word), remedy),
                     terminal);
}

}  // namespace makeway::cli
