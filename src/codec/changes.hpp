// Changes as text: one JSON document a line, objects as in a dump.
//
//   {"apiVersion":"v1","kind":"Pod","metadata":{"name":"web",...},...}
//   {"apiVersion":"makeway.dev/v1","kind":"Removal","of":"Pod","namespace":"shop","name":"web"}
//
// Nothing is checked beyond what reading needs, and nothing is filled in: what comes out is what
// went in, so that a cluster can be built again as it was, mistakes included.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.hpp"
#include "codec/writer.hpp"
#include "model/objects.hpp"

namespace makeway {

void write_change(DocumentWriter& writer, const Change& change);

/// Receives the changes in the order of the text; a List, as a dump is one, is its items. None:
/// all were read; else what is wrong with one of them.
std::optional<Error> read_changes(std::string_view text,
                                  const std::function<void(const Change&)>& visit);

}  // namespace makeway
