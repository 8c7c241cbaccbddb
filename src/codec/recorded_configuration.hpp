// Configurations that a journal has recorded, of this program or of one with more knobs.
//
// Once every rule was a knob (docs/decisions/0042-bundles.md). A document of that time
// states no `compatibility`; it is translated: its rules must be those of a bundle, and what became
// a constant must have that value. Otherwise its decisions cannot be made again, and an error says
// why. Files and `--set` are not read this way: there a removed knob is an error.
#pragma once

#include <string>

#include "codec/configuration_codec.hpp"

namespace makeway {

struct RecordedConfiguration {
  ConfigurationReading reading;
  /// Of a translated document: the hash that its plans carry. Empty: that of the configuration.
  std::string hash;
};

RecordedConfiguration read_recorded_configuration(const JsonValue& tree);

}  // namespace makeway
