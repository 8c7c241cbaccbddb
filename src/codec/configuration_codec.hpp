// Configuration documents: JSON or YAML <-> Configuration.
//
//   apiVersion: makeway.dev/v1
//   kind: Configuration
//   metadata: {name: ours, description: "one line"}
//   spec:
//     compatibility: kube-1.37
//     workload: {evictFor: all}
//     profiles:
//     - schedulerName: batch
//       preset: kep-5710
//       engine: {preemptionDelay: 30s}
//
// A profile has the rules of the document but for these knobs, and those that its preset has for
// asks; it is written without the preset's name, knob by knob. The fields of `spec` are the paths
// of the knobs, one level for each part. Unknown fields are errors with the nearest known one as
// remedy; all problems of a document are reported together.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/problem.hpp"
#include "model/configuration.hpp"
#include "model/knobs.hpp"

namespace makeway {

class DocumentWriter;
struct JsonValue;

enum class MissingKnobs : std::uint8_t {
  take_defaults,  ///< A file of the operator: what it does not say has its documented default.
  refuse,         ///< A preset: it must say everything.
};

struct ConfigurationDocument {
  std::string name;         ///< metadata.name; may be empty.
  std::string description;  ///< metadata.description; may be empty.
  Configuration configuration;

  friend bool operator==(const ConfigurationDocument&, const ConfigurationDocument&) = default;
};

/// Absent exactly when `problems` has an error; warnings come with a document.
struct ConfigurationReading {
  std::optional<ConfigurationDocument> document;
  Problems problems;
};

/// One document, already a tree. `origin` is where it came from, for the problems.
ConfigurationReading read_configuration(const JsonValue& tree, MissingKnobs missing,
                                        const Origin& origin = {});

/// The text of one document, YAML or JSON (which is YAML too).
ConfigurationReading read_configuration_text(std::string_view text, MissingKnobs missing,
                                             const Origin& origin = {});

/// The value in the knob's type, or nothing if the JSON type already excludes it.
std::optional<KnobValue> value_from(const Knob& knob, const JsonValue& value);

/// The complete document, in the order of the table of knobs.
void write_configuration(DocumentWriter& writer, const ConfigurationDocument& document);

/// The same as YAML with the documentation of each knob as a comment above it.
std::string commented_yaml(const ConfigurationDocument& document);

}  // namespace makeway
