// How the rows of the table of knobs are written; included by the knobs_*.cpp files only.
//
// A row names the section and the field of Configuration as pointers to members; the type of the
// field decides how it is read and written, so a row cannot disagree with the struct.
#pragma once

#include <algorithm>
#include <array>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <variant>
#include <vector>

#include "base/check.hpp"
#include "model/knobs.hpp"

namespace makeway::knob_tables {

/// Parts of the table; knobs() puts them together.
std::span<const Knob> general_knobs();
std::span<const Knob> workload_knobs();
std::span<const Knob> placement_policy_knobs();
std::span<const Knob> session_knobs();
std::span<const Knob> trust_knobs();
std::span<const Knob> live_knobs();

struct Documented {
  std::string_view path;
  std::string_view spec;
  std::string_view documentation;
};

struct Limits {
  std::int64_t minimum = 0;
  std::int64_t maximum = 0;
};

template <class Choice>
Choice choice_of(std::string_view name) {
  const auto& names = choice_names<Choice>;
  const auto found = std::ranges::find(names, name);
  CHECK(found != names.end(), name);
  return static_cast<Choice>(found - names.begin());
}

template <auto Section, auto Field>
struct Access {
  using Type = std::remove_cvref_t<decltype((std::declval<Configuration&>().*Section).*Field)>;

  static const Type& field(const Configuration& configuration) {
    return (configuration.*Section).*Field;
  }
  static Type& field(Configuration& configuration) { return (configuration.*Section).*Field; }

  static KnobValue get(const Configuration& configuration) {
    return KnobValue(field(configuration));
  }
  static void put(Configuration& configuration, const KnobValue& value) {
    field(configuration) = std::get<Type>(value);
  }

  static KnobValue get_choice(const Configuration& configuration) {
    return KnobValue(std::string(choice_name(field(configuration))));
  }
  static void put_choice(Configuration& configuration, const KnobValue& value) {
    field(configuration) = choice_of<Type>(std::get<std::string>(value));
  }

  static KnobValue get_choices(const Configuration& configuration) {
    std::vector<std::string> names;
    for (const auto choice : field(configuration)) names.emplace_back(choice_name(choice));
    return names;
  }
  static void put_choices(Configuration& configuration, const KnobValue& value) {
    Type choices;
    for (const std::string& name : std::get<std::vector<std::string>>(value)) {
      choices.push_back(choice_of<typename Type::value_type>(name));
    }
    field(configuration) = std::move(choices);
  }
};

/// A switch, a duration, a text or a list of texts: the field's own type says which.
template <auto Section, auto Field>
constexpr Knob plain(const Documented& row, bool may_be_empty = false) {
  using FieldAccess = Access<Section, Field>;
  using Type = typename FieldAccess::Type;
  Knob knob{.path = row.path,
            .spec = row.spec,
            .documentation = row.documentation,
            .choices = {},
            .may_be_empty = may_be_empty,
            .get = &FieldAccess::get,
            .put = &FieldAccess::put};
  if constexpr (std::is_same_v<Type, bool>) {
    knob.type = KnobType::boolean;
  } else if constexpr (std::is_same_v<Type, Duration>) {
    knob.type = KnobType::duration;
  } else if constexpr (std::is_same_v<Type, std::string>) {
    knob.type = KnobType::text;
  } else {
    static_assert(std::is_same_v<Type, std::vector<std::string>>);
    knob.type = KnobType::text_list;
  }
  return knob;
}

template <auto Section, auto Field>
constexpr Knob integer(const Documented& row, const Limits& limits) {
  using FieldAccess = Access<Section, Field>;
  static_assert(std::is_same_v<typename FieldAccess::Type, std::int64_t>);
  return {.path = row.path,
          .type = KnobType::integer,
          .spec = row.spec,
          .documentation = row.documentation,
          .minimum = limits.minimum,
          .maximum = limits.maximum,
          .choices = {},
          .get = &FieldAccess::get,
          .put = &FieldAccess::put};
}

template <auto Section, auto Field>
constexpr Knob choice(const Documented& row) {
  using FieldAccess = Access<Section, Field>;
  return {.path = row.path,
          .type = KnobType::choice,
          .spec = row.spec,
          .documentation = row.documentation,
          .choices = choice_names<typename FieldAccess::Type>,
          .get = &FieldAccess::get_choice,
          .put = &FieldAccess::put_choice};
}

template <auto Section, auto Field>
constexpr Knob choices(const Documented& row, bool may_be_empty = false) {
  using FieldAccess = Access<Section, Field>;
  return {.path = row.path,
          .type = KnobType::choice_list,
          .spec = row.spec,
          .documentation = row.documentation,
          .choices = choice_names<typename FieldAccess::Type::value_type>,
          .may_be_empty = may_be_empty,
          .get = &FieldAccess::get_choices,
          .put = &FieldAccess::put_choices};
}

/// The knob is one of the ask: a profile may have its own value.
constexpr Knob of_ask(Knob knob) {
  knob.scope = KnobScope::ask;
  return knob;
}

}  // namespace makeway::knob_tables
