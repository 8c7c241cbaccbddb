// Knobs: the one table that says what can be configured.
//
// Each field of Configuration that a user may set appears here once, with its path, type, limits,
// documentation and typed access. The other fields are rules (model/compatibility.hpp). Validation,
// `--set`, the documents, `makeway config explain` and the reference table of docs/configuration.md
// are all read off this table; the list is closed.
//
//   Configuration configuration;
//   if (const auto problem = set_knob(configuration, "workload.evictFor", "all")) print(*problem);
//
// A path is the policy's folder (or protection, budgets, engine, trust, live) and a name in
// camelCase; `compatibility` is in no folder. The order of the table is the order of every document
// and of every list that a user sees.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/problem.hpp"
#include "base/result.hpp"
#include "base/time.hpp"
#include "model/configuration.hpp"

namespace makeway {

enum class KnobType : std::uint8_t {
  boolean,
  integer,      ///< Between `minimum` and `maximum`, both allowed.
  duration,     ///< "30s", "1h30m"; never negative.
  choice,       ///< One of `choices`.
  choice_list,  ///< An order over some of `choices`, each at most once.
  text_list,    ///< Short texts without commas and blanks, each at most once.
  text,         ///< One such text.
};

/// Whether two asks of one cycle may differ in it, by their profiles.
enum class KnobScope : std::uint8_t {
  cluster,  ///< What a running pod is worth, or what room is there: they must agree on it.
  ask,      ///< How places and victims are looked for, scored and chosen.
};
template <>
inline constexpr std::array<std::string_view, 2> choice_names<KnobScope> = {"cluster", "ask"};

/// A choice and a text are strings; the two list types are vectors of strings.
using KnobValue = std::variant<bool, std::int64_t, Duration, std::string, std::vector<std::string>>;

struct Knob {
  std::string_view path;
  KnobType type = KnobType::boolean;
  std::string_view spec;           ///< The section of SPEC the knob comes from, for example "2".
  std::string_view documentation;  ///< One to three sentences.
  std::int64_t minimum = 0;
  std::int64_t maximum = 0;
  std::span<const std::string_view> choices;
  bool may_be_empty = false;  ///< Lists only.
  KnobScope scope = KnobScope::cluster;

  /// `put` trusts its value: ask `refusal` first, unless the value came from `get`.
  KnobValue (*get)(const Configuration&) = nullptr;
  void (*put)(Configuration&, const KnobValue&) = nullptr;

  /// Empty: the knob is in no section.
  std::string_view section() const {
    return path.contains('.') ? path.substr(0, path.find('.')) : std::string_view{};
  }
  std::string_view name() const { return path.substr(path.find('.') + 1); }
};

/// All knobs, grouped by section.
std::span<const Knob> knobs();

/// By path, or by the shorthands `budgets` and `trust` for their `mode`; null when there is none.
const Knob* find_knob(std::string_view path);

/// The most similar path, for "did you mean"; empty when nothing is similar.
std::string_view nearest_path(std::string_view path);

/// The most similar of some names, for the same purpose.
std::string_view nearest_of(std::span<const std::string_view> names, std::string_view name);

/// The problem of a path that no knob has: what replaces it, or the nearest path as remedy.
Problem unknown_knob(std::string_view path, std::string_view value);

/// The text of the `--set` form: lists are separated by commas, an empty text is the empty list.
Result<KnobValue> parse_value(const Knob& knob, std::string_view text);

/// What is wrong with the value, or empty.
std::string refusal(const Knob& knob, const KnobValue& value);

/// What a value of this knob looks like: "an integer between 1 and 64".
std::string expected_text(const Knob& knob);

/// What the knob belongs to, such as "the cluster: one value for all profiles".
std::string_view scope_text(const Knob& knob);

std::string to_text(const KnobValue& value);
std::string knob_text(const Configuration& configuration, const Knob& knob);

/// Changes one knob; nothing changes when there is a problem.
std::optional<Problem> set_knob(Configuration& configuration, std::string_view path,
                                std::string_view text);

/// The argument of `--set`: "path=value".
std::optional<Problem> apply_override(Configuration& configuration, std::string_view assignment);

/// The reference table of docs/configuration.md.
std::string knobs_markdown();

}  // namespace makeway
