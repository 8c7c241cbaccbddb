#include "cli/terminal.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <csignal>

namespace makeway::cli {
namespace {

std::string_view code_of(Tone tone) {
  switch (tone) {
    case Tone::plain: return "";
    case Tone::strong: return "1";
    case Tone::dim: return "2";
    case Tone::good: return "32";
    case Tone::warning: return "33";
    case Tone::bad: return "31";
  }
  return "";
}

}  // namespace

std::string Palette::paint(std::string_view text, Tone tone) const {
  if (!on_ || tone == Tone::plain || text.empty()) return std::string(text);
  return fmt::format("\x1b[{}m{}\x1b[0m", code_of(tone), text);
}

std::size_t Palette::text_width() const {
  constexpr std::size_t comfortable = 88;
  return columns_ == 0 ? comfortable : std::min(columns_, comfortable);
}

std::size_t Palette::table_width() const {
  constexpr std::size_t usual = 100;
  return columns_ == 0 ? usual : columns_;
}

Palette palette_for_out(const Terminal& terminal, std::string_view choice) {
  const bool automatic = terminal.out_is_terminal && !terminal.colour_refused;
  return {choice == "auto" ? automatic : choice == "always", terminal};
}

Palette palette_for_error(const Terminal& terminal) {
  return {terminal.error_is_terminal && !terminal.colour_refused, terminal};
}

namespace {

/// The only thing that a handler may touch.
volatile std::sig_atomic_t interrupted = 0;
void interrupt(int /*signal*/) { interrupted = 1; }

}  // namespace

InterruptWatch::InterruptWatch()
    : interrupt_before_(std::signal(SIGINT, interrupt)),
      terminate_before_(std::signal(SIGTERM, interrupt)) {
  interrupted = 0;
}

InterruptWatch::~InterruptWatch() {
  std::signal(SIGINT, interrupt_before_);
  std::signal(SIGTERM, terminate_before_);
}

bool InterruptWatch::seen() const {
  if (interrupted == 0) return false;
  std::signal(SIGINT, SIG_DFL);
  std::signal(SIGTERM, SIG_DFL);
  return true;
}

}  // namespace makeway::cli
