// What an unquoted YAML scalar means, as Kubernetes' tools read it (YAML 1.1 as sigs.k8s.io/yaml
// and its go-yaml v2 fork understand it).
//
//  1. Empty, ~, null: null. y, yes, on, true, n, no, off, false in lower case, Title Case or UPPER
//     CASE: boolean.
//  2. Integers: decimal, 0x.., 0o.., 0b.., and a leading 0 for octal; underscores are ignored.
//  3. Decimal floats. The text is kept exact and brought into one form: 1.50 is 1.5, 1e3 is 1000.
//  4. .inf and .nan are numbers that JSON cannot say. Everything else is a string.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace makeway {

enum class ScalarKind : std::uint8_t { null, boolean, integer, decimal, not_finite, string };

struct PlainScalar {
  ScalarKind kind = ScalarKind::string;
  std::string_view json;  ///< The JSON text of null, booleans and numbers; else the given text.
};

/// `scratch` holds the JSON text when it differs from the given one; it lives as long as the
/// result.
PlainScalar resolve_plain(std::string_view text, std::string& scratch);

}  // namespace makeway
