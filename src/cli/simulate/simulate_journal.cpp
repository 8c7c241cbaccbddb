#include "cli/simulate/simulate_journal.hpp"

#include <fmt/format.h>

#include <charconv>
#include <filesystem>
#include <utility>

#include "base/printable.hpp"
#include "cli/text.hpp"
#include "cli/version_command.hpp"
#include "codec/quantity.hpp"

namespace makeway::cli {
namespace {

constexpr std::int64_t journal_bytes_min = 1 << 16;
constexpr std::uint32_t journal_files_most = 1'000;

std::unexpected<Error> usage(std::string message) {
  return std::unexpected(Error{.code = ErrorCode::fix_usage, .message = std::move(message)});
}

bool has_content(const std::string& path) {
  std::error_code failed;
  return std::filesystem::is_regular_file(path, failed) &&
         std::filesystem::file_size(path, failed) > 0;
}

}  // namespace

Result<JournalOptions> journal_options(const Arguments& arguments) {
  JournalOptions options{.path = std::string(arguments.text("journal")), .version = version_line()};
  if (options.path.empty()) return usage("--journal '': expected a FILE");
  if (const auto size = arguments.given("journal-size")) {
    const Result<std::int64_t> bytes = parse_quantity(*size, Scale::one);
    if (!bytes || *bytes < journal_bytes_min) {
      return usage(
          fmt::format("--journal-size '{}': expected a size of at least 64Ki, such as "
                      "64Mi",
                      shorten(*size)));
    }
    options.bytes_max = static_cast<std::uint64_t>(*bytes);
  }
  const std::string_view kept = arguments.text("journal-files");
  const auto [end, failed] =
      std::from_chars(kept.data(), kept.data() + kept.size(), options.files_kept);
  if (failed != std::errc{} || end != kept.data() + kept.size() ||
      options.files_kept > journal_files_most) {
    return usage(fmt::format("--journal-files '{}': expected a number from 0 to {}", shorten(kept),
                             journal_files_most));
  }
  return options;
}

Result<std::unique_ptr<Journal>> open_simulate_journal(const Arguments& arguments,
                                                       std::size_t configurations) {
  if (!arguments.has("journal")) {
    if (!arguments.has("journal-size")) return nullptr;
    return usage("--journal-size is for --journal FILE");
  }
  if (configurations != 1) {
    return usage(
        fmt::format("--journal records one configuration, and {} are simulated", configurations));
  }
  Result<JournalOptions> options = journal_options(arguments);
  if (!options) return std::unexpected(options.error());
  for (std::uint32_t number = 1; number <= journal_files_most; ++number) {
    const std::string rotated = rotated_path(options->path, number);
    if (!has_content(rotated)) continue;
    return input_error(fmt::format(
        "{}: it belongs to an earlier journal of that name; remove it, or give another name",
        rotated));
  }
  if (has_content(options->path)) {
    return input_error(fmt::format(
        "{}: it is there already, and a new journal is to begin here; remove it, or give another "
        "name",
        options->path));
  }
  return Journal::open(*std::move(options));
}

bool report_journal(const Journal* journal, Terminal& terminal, std::string_view writer) {
  if (journal == nullptr || journal->file().alarm().empty()) return true;
  terminal.error.write(fmt::format(
      "error: the journal ended early: {}; {} were not written; {} went on without it\n",
      printable(journal->file().alarm()), counted(journal->file().lost(), "record"), writer));
  return false;
}

}  // namespace makeway::cli
