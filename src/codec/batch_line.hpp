// One line of a batch: a case to plan, and perhaps what is expected of it.
//
//   {"id": "a", "ask": "shop/web", "askKind": "Pod", "snapshot": {"kind": "List", ...},
//    "now": "2026-01-01T00:00:00Z", "placements": {"shop/web": "n1"}, "expect": {...},
//    "configuration": {"apiVersion": "makeway.dev/v1", "kind": "Configuration", ...}}
//
// Everything but `snapshot` may be missing. Instead of `ask` there may be a list `asks`. A line
// that has a `kind` and no `snapshot` is itself the snapshot. `breaches` and `version` are what a
// bug report says to people; they are known and not read. Other keys are named in `unknown_keys`:
// the sender meant something by them. The snapshot stays text: it can be large, and the loader
// reads text.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/problem.hpp"
#include "codec/json_value.hpp"
#include "model/plan.hpp"

namespace makeway {

struct BatchCase {
  std::string_view snapshot;      ///< JSON text; a part of the line.
  std::vector<std::string> asks;  ///< `ask`, or the list `asks`.
  std::optional<AskKind> ask_kind;
  std::optional<Time> now;
  std::vector<PodPlacement> placements;  ///< Sorted.
  std::optional<JsonValue> expect;
  std::optional<JsonValue> configuration;
};

struct BatchReading {
  JsonValue id;  ///< Null when there is none. Known even where the rest cannot be read.
  std::optional<BatchCase> item;
  Problems problems;                      ///< Empty exactly when there is an item.
  std::vector<std::string> unknown_keys;  ///< In the order of the line.
};

/// Gives the line spare capacity, which the parser needs, and leaves its text alone.
BatchReading read_batch_line(std::string& line);

/// The keys that a line may have.
std::span<const std::string_view> batch_keys();

/// Either {"namespace/name": "node"} or a list of {namespace, name, node}; what is wrong with it
/// goes to `problems`.
std::vector<PodPlacement> read_placements(const JsonValue& value, std::string_view field,
                                          Problems& problems);

}  // namespace makeway
