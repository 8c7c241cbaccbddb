#include "cli/journal/journal_walk.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "base/printable.hpp"
#include "cli/text.hpp"
#include "cli/version_command.hpp"

namespace makeway::cli {
namespace {

/// "1 byte is", "2 bytes are"
std::string were(std::uint64_t bytes) {
  return counted(bytes, "byte") + (bytes == 1 ? " is" : " are");
}

}  // namespace

bool JournalWalk::is_damaged() const {
  return std::ranges::any_of(parts,
                             [](const JournalPart& part) { return part.end == FileEnd::damaged; });
}

bool JournalWalk::has_records() const {
  return std::ranges::any_of(parts, [](const JournalPart& part) { return part.records > 0; });
}

JournalWalk walk_journal(const std::string& path, const JournalVisit& visit) {
  JournalWalk walk;
  Result<JournalReader> reader = JournalReader::open(path, JournalFiles::with_rotated);
  if (!reader) {
    walk.error = reader.error();
    return walk;
  }
  JournalWorld& world = walk.world;
  while (!walk.stopped) {
    const Result<std::optional<JournalEntry>> entry = reader->next();
    if (!entry) walk.error = entry.error();
    if (!entry || !*entry) break;
    if (std::optional<Error> wrong = world.take(**entry)) {
      walk.error =
          Error{.message = fmt::format("{}: {}", reader->parts().back().path, wrong->message)};
      break;
    }
    if (world.gaps() > walk.strangers.size()) {
      walk.strangers.push_back(reader->parts().back().path);
    }
    walk.stopped = !visit(**entry, world);
  }
  walk.parts = reader->parts();
  return walk;
}

bool report_walk(const JournalWalk& walk, Terminal& terminal) {
  std::set<std::string> versions;
  for (const JournalPart& part : walk.parts) {
    const std::string path = printable(part.path);
    const std::uint64_t rest = part.bytes - part.whole_bytes;
    if (part.end == FileEnd::torn && rest > 0) {
      terminal.error.write(
          fmt::format("note: {}: its end is torn; {} not read\n", path, were(rest)));
    } else if (part.end == FileEnd::damaged) {
      terminal.error.write(fmt::format("error: {}: damaged at byte {}; {} not read\n", path,
                                       part.whole_bytes, were(rest)));
    }
    if (!part.version.empty() && part.version != version_line() &&
        versions.insert(part.version).second) {
      terminal.error.write(
          fmt::format("warning: {}: {} wrote it, and this is {}: plans may differ\n", path,
                      shorten(part.version), version_line()));
    }
  }
  if (walk.error) {
    terminal.error.write(fmt::format("error: {}\n", printable(walk.error->message)));
  }
  for (const std::string& path : walk.strangers) {
    terminal.error.write(
        fmt::format("error: {}: it does not go on where the file before it ended: a file is "
                    "missing, or belongs to another run\n",
                    printable(path)));
  }
  const bool sound = !walk.error && !walk.is_damaged() && walk.strangers.empty();
  if (!sound || walk.parts.empty() || walk.has_records()) return sound;
  terminal.error.write(
      fmt::format("error: {}: there is no record in it\n", printable(walk.parts.back().path)));
  return false;
}

}  // namespace makeway::cli
