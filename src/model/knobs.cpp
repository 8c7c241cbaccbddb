#include "model/knobs.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>

#include "base/ascii.hpp"
#include "base/check.hpp"
#include "model/knob_tables.hpp"
#include "model/removed_knobs.hpp"

namespace makeway {
namespace {

constexpr std::size_t texts_max = 1'000;
constexpr std::size_t text_length_max = 512;

struct Shorthand {
  std::string_view path;
  std::string_view meaning;
};
/// SPEC writes `budgets: strict` and `trust: cluster`; a section cannot be a value and a folder at
/// once in our table.
constexpr std::array shorthands = {Shorthand{"budgets", "budgets.mode"},
                                   Shorthand{"trust", "trust.mode"}};

std::vector<Knob> all_knobs() {
  std::vector<Knob> all;
  for (const auto part : {knob_tables::general_knobs(), knob_tables::workload_knobs(),
                          knob_tables::placement_policy_knobs(), knob_tables::session_knobs(),
                          knob_tables::trust_knobs(), knob_tables::live_knobs()}) {
    all.insert(all.end(), part.begin(), part.end());
  }
  return all;
}

/// Insertions, deletions and replacements between two texts, letter case aside.
std::size_t edit_distance(std::string_view from, std::string_view to) {
  std::vector<std::size_t> row(to.size() + 1);
  for (std::size_t j = 0; j < row.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= from.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= to.size(); ++j) {
      const std::size_t replaced =
          diagonal + (lower_byte(from[i - 1]) == lower_byte(to[j - 1]) ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, replaced});
    }
  }
  return row.back();
}

/// Keeps the candidate that is nearest so far; a candidate further away than a third is no help.
class Nearest {
 public:
  explicit Nearest(std::string_view wanted) : wanted_(wanted.substr(0, text_length_max)) {}

  void offer(std::string_view compared, std::string_view answer) {
    const std::size_t distance = edit_distance(wanted_, compared);
    if (distance >= best_) return;
    best_ = distance;
    answer_ = answer;
  }
  std::string_view answer() const {
    return best_ <= std::max<std::size_t>(2, wanted_.size() / 3) ? answer_ : std::string_view{};
  }

 private:
  std::string_view wanted_;
  std::string_view answer_;
  std::size_t best_ = text_length_max;
};

std::vector<std::string> split_list(std::string_view text) {
  std::vector<std::string> items;
  if (trimmed(text).empty()) return items;
  for (std::size_t start = 0; start <= text.size() && items.size() <= texts_max;) {
    const std::size_t comma = std::min(text.find(',', start), text.size());
    items.emplace_back(trimmed(text.substr(start, comma - start)));
    start = comma + 1;
  }
  return items;
}

bool is_plain_text(std::string_view text) {
  constexpr std::string_view refused = ",\"\\";
  return !text.empty() && text.size() <= text_length_max &&
         std::ranges::all_of(text, [&](char byte) {
           return byte > ' ' && byte < '\x7F' && !refused.contains(byte);
         });
}

std::string list_refusal(const Knob& knob, const std::vector<std::string>& items) {
  if (items.empty() && !knob.may_be_empty) return "the list must not be empty";
  if (items.size() > texts_max) return fmt::format("more than {} entries", texts_max);
  for (std::size_t i = 0; i < items.size(); ++i) {
    const std::string& item = items[i];
    const bool allowed = knob.type == KnobType::choice_list
                             ? std::ranges::find(knob.choices, item) != knob.choices.end()
                             : is_plain_text(item);
    if (!allowed) {
      return fmt::format("'{}' is not possible; expected {}", shorten(item), expected_text(knob));
    }
    if (std::find(items.begin(), items.begin() + static_cast<std::ptrdiff_t>(i), item) !=
        items.begin() + static_cast<std::ptrdiff_t>(i)) {
      return fmt::format("'{}' comes twice", shorten(item));
    }
  }
  return {};
}

bool holds_right_type(KnobType type, const KnobValue& value) {
  switch (type) {
    case KnobType::boolean: return std::holds_alternative<bool>(value);
    case KnobType::integer: return std::holds_alternative<std::int64_t>(value);
    case KnobType::duration: return std::holds_alternative<Duration>(value);
    case KnobType::choice:
    case KnobType::text: return std::holds_alternative<std::string>(value);
    case KnobType::choice_list:
    case KnobType::text_list: return std::holds_alternative<std::vector<std::string>>(value);
  }
  return false;
}

std::optional<KnobValue> value_of(KnobType type, std::string_view text) {
  switch (type) {
    case KnobType::boolean:
      if (text != "true" && text != "false") return std::nullopt;
      return KnobValue(text == "true");
    case KnobType::integer: {
      std::int64_t number = 0;
      const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
      if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
      return KnobValue(number);
    }
    case KnobType::duration: {
      const Result<Duration> duration = parse_duration(text);
      if (!duration) return std::nullopt;
      return KnobValue(*duration);
    }
    case KnobType::choice:
    case KnobType::text: return KnobValue(std::string(text));
    case KnobType::choice_list:
    case KnobType::text_list: return KnobValue(split_list(text));
  }
  return std::nullopt;
}

}  // namespace

std::span<const Knob> knobs() {
  static const std::vector<Knob> all = all_knobs();
  return all;
}

const Knob* find_knob(std::string_view path) {
  for (const Shorthand& shorthand : shorthands) {
    if (shorthand.path == path) path = shorthand.meaning;
  }
  const auto found = std::ranges::find(knobs(), path, &Knob::path);
  return found == knobs().end() ? nullptr : &*found;
}

std::string_view nearest_path(std::string_view path) {
  Nearest nearest(path);
  for (const Knob& knob : knobs()) {
    nearest.offer(knob.path, knob.path);
    if (!path.contains('.')) nearest.offer(knob.name(), knob.path);
  }
  return nearest.answer();
}

std::string_view nearest_of(std::span<const std::string_view> names, std::string_view name) {
  Nearest nearest(name);
  for (const std::string_view candidate : names) nearest.offer(candidate, candidate);
  return nearest.answer();
}

Problem unknown_knob(std::string_view path, std::string_view value) {
  if (std::optional<Problem> removed = removed_knob_problem(path, value)) return *removed;
  const std::string_view nearest = nearest_path(path);
  return {.origin = {},
          .object = {},
          .field = shorten(path),
          .value = shorten(value),
          .message = "there is no such knob",
          .remedy = nearest.empty() ? "'makeway config list' names all of them"
                                    : fmt::format("did you mean {}?", nearest)};
}

std::string expected_text(const Knob& knob) {
  const std::string_view empty = knob.may_be_empty ? "; may be empty" : "";
  switch (knob.type) {
    case KnobType::boolean: return "true or false";
    case KnobType::integer:
      return fmt::format("an integer between {} and {}", knob.minimum, knob.maximum);
    case KnobType::duration: return "a duration such as 30s, 5m, 1h30m or 250ms";
    case KnobType::choice: return fmt::format("one of {}", fmt::join(knob.choices, ", "));
    case KnobType::choice_list:
      return fmt::format("a list of {}, each at most once{}", fmt::join(knob.choices, ", "), empty);
    case KnobType::text_list:
      return fmt::format("a list of texts without blanks, commas and quotes{}", empty);
    case KnobType::text: return "a text without blanks, commas and quotes";
  }
  return {};
}

std::string refusal(const Knob& knob, const KnobValue& value) {
  std::string expected = fmt::format("expected {}", expected_text(knob));
  if (!holds_right_type(knob.type, value)) return expected;
  if (const auto* items = std::get_if<std::vector<std::string>>(&value)) {
    return list_refusal(knob, *items);
  }
  if (const auto* number = std::get_if<std::int64_t>(&value)) {
    return *number < knob.minimum || *number > knob.maximum ? expected : std::string{};
  }
  if (const auto* duration = std::get_if<Duration>(&value)) {
    return duration->ms < 0 || !parse_duration(to_text(*duration)) ? expected : std::string{};
  }
  if (const auto* text = std::get_if<std::string>(&value)) {
    const bool allowed = knob.type == KnobType::choice
                             ? std::ranges::find(knob.choices, *text) != knob.choices.end()
                             : is_plain_text(*text);
    return allowed ? std::string{} : expected;
  }
  return {};
}

Result<KnobValue> parse_value(const Knob& knob, std::string_view text) {
  const std::optional<KnobValue> value = value_of(knob.type, text);
  if (!value) return input_error(fmt::format("expected {}", expected_text(knob)));
  std::string message = refusal(knob, *value);
  if (!message.empty()) return input_error(std::move(message));
  return *value;
}

std::string to_text(const KnobValue& value) {
  if (const auto* flag = std::get_if<bool>(&value)) return *flag ? "true" : "false";
  if (const auto* number = std::get_if<std::int64_t>(&value)) return fmt::format("{}", *number);
  if (const auto* duration = std::get_if<Duration>(&value)) return to_text(*duration);
  if (const auto* text = std::get_if<std::string>(&value)) return *text;
  return fmt::format("{}", fmt::join(std::get<std::vector<std::string>>(value), ","));
}

std::string knob_text(const Configuration& configuration, const Knob& knob) {
  return to_text(knob.get(configuration));
}

std::optional<Problem> set_knob(Configuration& configuration, std::string_view path,
                                std::string_view text) {
  const Knob* knob = find_knob(path);
  if (knob == nullptr) return unknown_knob(path, text);
  const Result<KnobValue> value = parse_value(*knob, text);
  if (!value) {
    return Problem{.origin = {},
                   .object = {},
                   .field = std::string(knob->path),
                   .value = shorten(text),
                   .message = value.error().message,
                   .remedy = fmt::format("'makeway config explain {}' says more", knob->path)};
  }
  knob->put(configuration, *value);
  return std::nullopt;
}

std::optional<Problem> apply_override(Configuration& configuration, std::string_view assignment) {
  const std::size_t equals = assignment.find('=');
  if (equals == std::string_view::npos) {
    return Problem{.origin = {},
                   .object = {},
                   .field = {},
                   .value = shorten(assignment),
                   .message = "expected path=value",
                   .remedy = "for example workload.evictFor=all"};
  }
  return set_knob(configuration, trimmed(assignment.substr(0, equals)),
                  trimmed(assignment.substr(equals + 1)));
}

std::string_view scope_text(const Knob& knob) {
  return knob.scope == KnobScope::ask ? "the ask: each profile may have its own value"
                                      : "the cluster: one value for all profiles";
}

std::string knobs_markdown() {
  std::string text =
      "| knob | value | default | of | meaning | SPEC |\n|---|---|---|---|---|---|\n";
  for (const Knob& knob : knobs()) {
    const std::string standard = knob_text(Configuration{}, knob);
    text += fmt::format("| `{}` | {} | {} | {} | {} | {} |\n", knob.path, expected_text(knob),
                        standard.empty() ? "empty" : fmt::format("`{}`", standard),
                        choice_name(knob.scope), knob.documentation, knob.spec);
  }
  return text;
}

}  // namespace makeway
