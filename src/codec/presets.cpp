#include "codec/presets.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "codec/configuration_codec.hpp"

namespace makeway {
namespace {

ConfigurationReading read_preset(std::string_view name, std::string_view text) {
  return read_configuration_text(
      text, MissingKnobs::refuse,
      {.source = fmt::format("preset {}", name), .document = 0, .line = 0});
}

}  // namespace

std::vector<std::string_view> preset_names() {
  std::vector<std::string_view> names;
  for (const EmbeddedPreset& preset : embedded_presets()) names.push_back(preset.name);
  std::ranges::sort(names, [](std::string_view a, std::string_view b) {
    return std::pair(a != default_preset, a) < std::pair(b != default_preset, b);
  });
  return names;
}

Result<std::string_view> preset_text(std::string_view name) {
  const auto presets = embedded_presets();
  const auto found = std::ranges::find(presets, name, &EmbeddedPreset::name);
  if (found != presets.end()) return found->text;
  return input_error(fmt::format("there is no preset '{}'; choose one of {}", shorten(name),
                                 fmt::join(preset_names(), ", ")));
}

Result<Configuration> load_preset(std::string_view name) {
  const Result<std::string_view> text = preset_text(name);
  if (!text) return std::unexpected(text.error());
  ConfigurationReading reading = read_preset(name, *text);
  if (!reading.document) return input_error(to_text(reading.problems.front()));
  return std::move(reading.document->configuration);
}

std::string preset_summary(std::string_view name) {
  const Result<std::string_view> text = preset_text(name);
  if (!text) return {};
  const ConfigurationReading reading = read_preset(name, *text);
  return reading.document ? reading.document->description : std::string{};
}

}  // namespace makeway
