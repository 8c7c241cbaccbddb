// Fields that Kubernetes does not have, in objects that are written by hand.
//
// An API server refuses or drops them, so that a misspelt field asks for nothing. Decoders skip
// what scheduling does not read, so they cannot tell a misspelling from an image; here is the
// complete list of the fields, of pods, templates of pods, nodes, budgets and priority classes, as
// far down as scheduling looks. What has a uid came from an API server and is not looked at.
#pragma once

#include <cstddef>
#include <string_view>

#include "base/problem.hpp"
#include "codec/json_value.hpp"

namespace makeway {

/// So many objects of one input are looked at: those that are written by hand are few.
inline constexpr std::size_t objects_looked_at_max = 1'000;

/// Whether the fields of such objects are known.
bool has_known_fields(std::string_view kind);
/// Warnings about an object of such a kind, without its name and origin; none for one with a uid.
Problems find_unknown_fields(std::string_view kind, const JsonValue& object);
/// The same about the templates of pods in any object; they are found by their containers.
Problems find_unknown_template_fields(const JsonValue& object);

}  // namespace makeway
