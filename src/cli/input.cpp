#include "cli/input.hpp"

#include <fmt/format.h>

#include <chrono>
#include <filesystem>

#include "base/check.hpp"
#include "cli/palette.hpp"
#include "cli/problem_text.hpp"
#include "cli/text.hpp"
#include "codec/presets.hpp"
#include "codec/quantity.hpp"
#include "codec/source.hpp"
#include "model/knobs.hpp"

namespace makeway::cli {
namespace {

using SteadyClock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds patience{1'000};
constexpr std::chrono::milliseconds redraw_interval{100};
/// A file that takes longer than our patience.
constexpr std::uintmax_t large_file_bytes = std::uintmax_t{256} << 20U;
constexpr std::string_view erase_line = "\r\x1b[K";

/// One line on standard error that overwrites itself, and is gone at the end.
class ProgressLine {
 public:
  explicit ProgressLine(Terminal& terminal) : terminal_(terminal) {}
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;
  ~ProgressLine() {
    if (shown_) terminal_.error.write(erase_line);
  }

  void step(const LoadStep& step) {
    const SteadyClock::time_point now = SteadyClock::now();
    std::error_code ignored;
    const std::uintmax_t size = std::filesystem::file_size(step.file, ignored);
    const bool large = !ignored && size >= large_file_bytes;
    if (!large && now - start_ < patience) return;
    if (shown_ && now - drawn_ < redraw_interval) return;
    terminal_.error.write(fmt::format("{}reading file {} of {} ({}), {} read so far", erase_line,
                                      grouped(step.files_done + 1), grouped(step.files),
                                      shorten(step.file),
                                      human_bytes(static_cast<std::int64_t>(step.bytes_done))));
    shown_ = true;
    drawn_ = now;
  }

 private:
  Terminal& terminal_;
  SteadyClock::time_point start_ = SteadyClock::now();
  SteadyClock::time_point drawn_;
  bool shown_ = false;
};

ChosenConfiguration read_file(std::string_view path) {
  ChosenConfiguration chosen;
  const std::string name(path);
  const auto source = read_source({.path = name});
  if (!source) {
    chosen.problems.push_back({.message = source.error().message});
    return chosen;
  }
  ConfigurationReading reading =
      read_configuration_text(source->text.view(), MissingKnobs::take_defaults, {.source = name});
  chosen.document = std::move(reading.document);
  chosen.problems = std::move(reading.problems);
  return chosen;
}

/// Changes the document; returns what is wrong with an override, or with all of them together.
std::string apply_overrides(std::span<const std::string> overrides,
                            ConfigurationDocument& document) {
  for (const std::string& assignment : overrides) {
    const std::optional<Problem> problem = apply_override(document.configuration, assignment);
    if (problem) return fmt::format("--set {}", to_text(*problem));
  }
  if (overrides.empty()) return {};
  for (const Problem& problem : validate(document.configuration)) {
    if (problem.severity == Severity::error) {
      return fmt::format("--set contradicts the rest: {}", to_text(problem));
    }
  }
  return {};
}

}  // namespace

LoadResult load_with_progress(std::span<const std::string> paths, Terminal& terminal) {
  if (!terminal.error_is_terminal) return load(paths);
  ProgressLine line(terminal);
  return load(paths, [&line](const LoadStep& step) { line.step(step); });
}

std::optional<Loaded> load_or_report(std::span<const std::string> paths, Terminal& terminal) {
  LoadResult result = load_with_progress(paths, terminal);
  const Palette palette = palette_for_error(terminal);
  if (result.loaded) {
    terminal.error.write(problem_lines(result.loaded->warnings, palette));
    return std::move(result.loaded);
  }
  const std::uint64_t errors = count_problems(result.problems).errors + result.problems_left_out;
  std::string text = problem_lines(result.problems, palette);
  if (result.problems_left_out > 0) {
    text += fmt::format("... and {}\n", counted(result.problems_left_out, "more problem"));
  }
  terminal.error.write(
      fmt::format("{}makeway: {}; nothing was loaded\n", text, counted(errors, "error")));
  return std::nullopt;
}

ChosenConfiguration choose_configuration(const ConfigurationChoice& choice) {
  ChosenConfiguration chosen;
  if (!choice.file.empty() && !choice.preset.empty()) {
    chosen.usage = "a configuration comes from a preset or from --config, not from both";
    return chosen;
  }
  if (!choice.file.empty()) {
    chosen = read_file(choice.file);
  } else if (choice.preset.empty() && choice.found != nullptr) {
    chosen.document = *choice.found;
  } else {
    const std::string_view name = choice.preset.empty() ? default_preset : choice.preset;
    Result<Configuration> preset = load_preset(name);
    CHECK(preset.has_value(), "presets are checked by tests, their names by the parser");
    chosen.document = ConfigurationDocument{.name = std::string(name),
                                            .description = preset_summary(name),
                                            .configuration = std::move(*preset)};
  }
  if (!chosen.document) return chosen;
  chosen.usage = apply_overrides(choice.overrides, *chosen.document);
  if (!chosen.usage.empty()) chosen.document.reset();
  return chosen;
}

}  // namespace makeway::cli
