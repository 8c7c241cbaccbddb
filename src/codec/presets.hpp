// Presets: complete Configuration documents that are compiled into the binary.
//
// A preset is data and nothing else: no code asks for its name. It states every knob, so that a
// reader sees the whole of it and a new default cannot change it silently.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "model/configuration.hpp"

namespace makeway {

/// The preset that is used when none is named.
inline constexpr std::string_view default_preset = "makeway";

struct EmbeddedPreset {
  std::string_view name;
  std::string_view text;  ///< The YAML document of src/codec/presets/<name>.yaml.
};

/// Sorted by name. The definition is generated at build time from src/codec/presets/*.yaml.
std::span<const EmbeddedPreset> embedded_presets();

/// `makeway` first, the others by name.
std::vector<std::string_view> preset_names();

/// An unknown name is an error that lists the names.
Result<Configuration> load_preset(std::string_view name);

/// The document itself, with its comments.
Result<std::string_view> preset_text(std::string_view name);

/// One line that says what the preset reproduces; empty for an unknown name.
std::string preset_summary(std::string_view name);

}  // namespace makeway
