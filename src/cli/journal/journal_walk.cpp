#include "cli/journal/journal_walk.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <utility>
#include <variant>

#include "base/printable.hpp"
#include "cli/help.hpp"
#include "cli/text.hpp"
#include "codec/json_value.hpp"
#include "codec/plan_codec.hpp"
#include "codec/writer.hpp"
#include "model/object_text.hpp"

namespace makeway::cli {
namespace {

/// The asks under these rules: a kind that they do not schedule would not have been due, and would
/// make the whole plan fail.
std::vector<AskName> asking(const std::vector<AskName>& due, const Configuration& rules) {
  std::vector<AskName> asks = due;
  std::erase_if(asks, [&](const AskName& ask) {
    return (ask.kind == AskKind::session && !rules.session.enabled) ||
           (ask.kind == AskKind::replica_schedule && !rules.replica.enabled);
  });
  return asks;
}

}  // namespace

LawfulPlan decide_again(const CycleRecord& cycle, const JournalWorld& world,
                        const ReplayRules& rules, const PlanTools& tools, bool explain) {
  std::vector<AskName> asks = asking(cycle.due, rules.configuration);
  if (asks.empty() && !cycle.due.empty()) {
    // An empty list of asks would mean all of them.
    LawfulPlan empty;
    empty.plan = Plan{.preset = std::string(rules.preset), .now = cycle.now};
    return empty;
  }
  PlanTools used = tools;
  used.keep_going = true;  // As the loop that was recorded.
  if (!cycle.judged) {
    used.check = [](const Cluster&, const Configuration&, const Plan&) {
      return std::vector<LawBreach>();
    };
  }
  return make_lawful_plan(world.cluster(), rules.configuration,
                          {.now = cycle.now,
                           .preset = std::string(rules.preset),
                           .configuration_hash = std::string(rules.configuration_hash),
                           .asks = std::move(asks),
                           .explain = explain,
                           .contain = tools.contain},
                          used);
}

namespace {

constexpr std::size_t differing_asks_shown_max = 20;

/// In one line, as cycles record it.
std::string document_of(const Plan& plan) {
  std::string text = plan_text_json(plan, PlanDetail::brief, JsonStyle::compact);
  if (text.ends_with('\n')) text.pop_back();
  return text;
}

std::string member(const JsonValue& tree, std::string_view key) {
  const JsonValue* const value = tree.find(key);
  return value != nullptr && value->as_string() != nullptr ? *value->as_string() : std::string();
}

/// "shop/web, shop/db": the objects of a list.
std::string names_in(const JsonValue& ask, std::string_view list, std::string_view key) {
  std::vector<std::string> names;
  const JsonValue* const items = ask.find(list);
  if (items == nullptr || items->as_array() == nullptr) return {};
  for (const JsonValue& item : *items->as_array()) {
    names.push_back(key == "node" ? member(item, "node")
                                  : member(item, "namespace") + "/" + member(item, "name"));
  }
  return few_names(std::move(names));
}

/// "preempts on n1, victims shop/web"
std::string verdict_of(const JsonValue* ask) {
  if (ask == nullptr) return "not asked";
  std::string text = member(*ask, "outcome");
  const std::string nodes = names_in(*ask, "placements", "node");
  if (!nodes.empty()) text += " on " + nodes;
  const std::string victims = names_in(*ask, "victims", "name");
  if (!victims.empty()) text += ", victims " + victims;
  if (nodes.empty()) text += ": " + member(*ask, "reason");
  return text;
}

using AsksByName = std::map<std::string, const JsonValue*>;

AsksByName asks_of(const JsonValue& plan) {
  AsksByName asks;
  const JsonValue* const list = plan.find("asks");
  if (list == nullptr || list->as_array() == nullptr) return asks;
  for (const JsonValue& ask : *list->as_array()) {
    asks.emplace(object_text(member(ask, "kind"), member(ask, "namespace"), member(ask, "name")),
                 &ask);
  }
  return asks;
}

std::string differing_asks_text(const JsonValue& recorded, const JsonValue& now) {
  const AsksByName then_asks = asks_of(recorded);
  const AsksByName now_asks = asks_of(now);
  AsksByName all = then_asks;
  all.insert(now_asks.begin(), now_asks.end());
  std::string text;
  std::size_t differ = 0;
  for (const auto& [name, any] : all) {
    const auto find = [&](const AsksByName& asks) {
      const auto found = asks.find(name);
      return found == asks.end() ? nullptr : found->second;
    };
    const JsonValue* const before = find(then_asks);
    const JsonValue* const after = find(now_asks);
    if (before != nullptr && after != nullptr && *before == *after) continue;
    if (++differ > differing_asks_shown_max) continue;
    const std::string was = verdict_of(before);
    const std::string is = verdict_of(after);
    text += fmt::format("  {}: recorded: {}; now: {}\n", shorten(name, 120), printable(was),
                        was == is ? "the same, with other details" : printable(is));
  }
  if (differ > differing_asks_shown_max) {
    text += fmt::format("  ... and {}\n", counted(differ - differing_asks_shown_max, "more ask"));
  }
  return text;
}

/// Fields beside the asks: "actions, queueStatus".
std::string differing_fields(const JsonValue& recorded, const JsonValue& now) {
  std::vector<std::string_view> fields;
  const auto look = [&](const JsonValue& one, const JsonValue& other) {
    if (one.as_object() == nullptr) return;
    for (const JsonMember& each : *one.as_object()) {
      const JsonValue* const same = other.find(each.key);
      if (each.key == "id" || each.key == "asks" || (same != nullptr && *same == each.value)) {
        continue;
      }
      if (std::ranges::find(fields, each.key) == fields.end()) fields.push_back(each.key);
    }
  };
  look(recorded, now);
  look(now, recorded);
  return fmt::format("{}", fmt::join(fields, ", "));
}

}  // namespace

bool is_recorded_plan(const CycleRecord& cycle, const std::optional<Plan>& plan) {
  if (!plan) return cycle.plan_id.empty();
  if (plan->id != cycle.plan_id || acts(*plan) != !cycle.plan.empty()) return false;
  return cycle.plan.empty() || document_of(*plan) == cycle.plan;
}

std::string plan_difference(const CycleRecord& cycle, const std::optional<Plan>& plan) {
  const auto id_text = [](std::string_view id) {
    return id.empty() ? std::string("no plan") : fmt::format("plan {}", shorten(id));
  };
  std::string text = fmt::format("  recorded: {}; now: {}\n", id_text(cycle.plan_id),
                                 id_text(plan ? std::string_view(plan->id) : std::string_view()));
  if (!plan) return text;
  if (cycle.plan.empty()) {
    text += "  The recorded plan asked the world for nothing, so only its id is there.\n";
  }
  const auto recorded = parse_json_value(cycle.plan.empty() ? "{}" : cycle.plan);
  const auto now = parse_json_value(document_of(*plan));
  if (!recorded || !now) return text + "  The recorded document cannot be read.\n";
  text += differing_asks_text(*recorded, *now);
  const std::string fields = cycle.plan.empty() ? "" : differing_fields(*recorded, *now);
  if (!fields.empty()) text += fmt::format("  Other fields that differ: {}.\n", printable(fields));
  return text;
}

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
    if (world.gaps() > walk.discontinuous_files.size()) {
      walk.discontinuous_files.push_back(reader->parts().back().path);
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
  for (const std::string& path : walk.discontinuous_files) {
    terminal.error.write(
        fmt::format("error: {}: it does not go on where the file before it ended: a file is "
                    "missing, or belongs to another run\n",
                    printable(path)));
  }
  const bool sound = !walk.error && !walk.is_damaged() && walk.discontinuous_files.empty();
  if (!sound || walk.parts.empty() || walk.has_records()) return sound;
  terminal.error.write(
      fmt::format("error: {}: there is no record in it\n", printable(walk.parts.back().path)));
  return false;
}

namespace {

/// With more names to look for it is quicker to read everything.
constexpr std::size_t names_max = 32;

bool is_of(const JournalText& text, JournalType type) {
  return text.type == static_cast<std::uint8_t>(type);
}

/// The text after the list of due asks. A waiting ask is due in every cycle, which is no event for
/// it. No text in quotes has unescaped quotes, so this is the member of that name.
std::string_view what_came_of(std::string_view cycle) {
  const std::size_t at = cycle.find(",\"changed\":[");
  return at == std::string_view::npos ? cycle : cycle.substr(at);
}

/// When it was written.
Time time_of(const JournalText& text) {
  const Result<JournalRecord> record = read_journal_record(text.type, text.text);
  if (!record) return {};
  return std::visit(
      [](const auto& each) {
        if constexpr (requires { each.now; }) {
          return each.now;
        } else {
          return Time{};
        }
      },
      *record);
}

/// As it stands between the quotes of a document.
std::string in_json(std::string_view name) {
  std::string text;
  JsonWriter writer(text, JsonStyle::compact);
  writer.string(name);
  while (text.ends_with('\n')) text.pop_back();
  return text.substr(1, text.size() - 2);
}

/// Whether one of some names stands in a text, or a node does.
class NameSearch {
 public:
  void look_for(std::vector<std::string> names) {
    if (names == names_) return;
    names_ = std::move(names);
    needles_.clear();
    for (const std::string& name : names_) needles_.emplace_back(in_json(name));
  }
  bool finds_one_in(std::string_view text) const {
    return needles_.size() > names_max ||
           std::ranges::any_of(needles_, [&](const Needle& each) { return each.is_in(text); });
  }
  bool finds_node_in(std::string_view text) const { return node_.is_in(text); }

 private:
  class Needle {
   public:
    explicit Needle(std::string text)
        : text_(std::make_unique<std::string>(std::move(text))),
          searcher_(text_->begin(), text_->end()) {}
    bool is_in(std::string_view text) const {
      return std::search(text.begin(), text.end(), searcher_) != text.end();
    }

   private:
    std::unique_ptr<std::string> text_;  ///< Does not move when this does.
    std::boyer_moore_horspool_searcher<std::string::iterator> searcher_;
  };
  std::vector<std::string> names_;
  std::vector<Needle> needles_;
  Needle node_{fmt::format("\"{}\"", row_of<Node>.name)};  ///< Its kind, also where it is removed.
};

class StoryWalk {
 public:
  StoryWalk(std::string path, WhyStory& story, const std::function<bool()>& is_over,
            StoryReading reading)
      : path_(std::move(path)), story_(story), is_over_(is_over), reading_(reading) {}

  JournalWalk walk() {
    Result<JournalReader> reader = JournalReader::open(path_, JournalFiles::with_rotated);
    if (!reader) {
      walk_.error = reader.error();
      return std::move(walk_);
    }
    reader_ = *std::move(reader);
    is_kept_ = reader_->file() != FileIdentity{};
    search_.look_for(story_.names());
    while (!walk_.stopped && !walk_.error) {
      Result<std::optional<JournalText>> text = reader_->next_text();
      if (!text) walk_.error = text.error();
      if (!text || !*text) break;
      std::optional<Error> error = read(**std::move(text));
      if (error && !walk_.error) walk_.error = std::move(error);
      walk_.stopped = is_over_();
    }
    end_story();
    walk_.parts = reader_->parts();
    return std::move(walk_);
  }

 private:
  /// From a base on.
  struct Chapter {
    FileIdentity file;
    std::uint64_t offset = 0;
    std::string rules;          ///< The record of the configuration before it.
    std::uint64_t records = 0;  ///< So many of it were read, its base included.
  };
  /// The world stands behind so many records of the chapter.
  struct Place {
    JournalReader reader;
    std::uint64_t records = 0;
  };
  std::optional<Error> read(JournalText text) {
    if (is_of(text, JournalType::base)) return read_base(text);
    if (chapter_) ++chapter_->records;
    if (is_of(text, JournalType::configuration)) rules_ = text.text;
    std::optional<Error> error;
    if (!is_about_others(text)) error = read_all(text);
    if (is_of(text, JournalType::cycle)) last_cycle_ = text.text;
    if (!is_of(text, JournalType::configuration)) last_ = std::move(text);
    return error;
  }

  std::optional<Error> read_base(const JournalText& text) {
    const Result<JournalEntry> entry = reader_->understood(text);
    if (!entry) return entry.error();
    last_ = {.type = text.type, .text = text.text.substr(0, text.text.find('\n') + 1)};
    const bool continues = is_continuing(std::get<BaseRecord>(entry->record), entry->after_gap);
    chapter_ =
        Chapter{.file = reader_->file(), .offset = text.offset, .rules = rules_, .records = 1};
    place_.reset();
    if (reads_all()) {
      if (std::optional<Error> error = take(*entry)) return error;
    }
    if (!continues) add_story(entry->record);
    return std::nullopt;
  }

  std::optional<Error> read_all(const JournalText& text) {
    const Result<JournalEntry> entry = reader_->understood(text);
    if (!entry) return entry.error();
    // Without a base the world says what is wrong.
    if (reads_all() || !chapter_) {
      if (std::optional<Error> error = take(*entry)) return error;
    }
    add_story(entry->record);
    return std::nullopt;
  }

  void add_story(const JournalRecord& record) {
    story_.read(record, [this] { return world(); });
    search_.look_for(story_.names());
  }

  /// The cluster is needed only if something of the story is pending.
  void end_story() {
    story_.end(time_of(last_));
    if (!walk_.stopped && !story_.pending().empty()) world();
  }

  std::optional<Error> take(const JournalEntry& entry) {
    const std::optional<Error> error = walk_.world.take(entry);
    if (!error) return std::nullopt;
    return Error{.message = fmt::format("{}: {}", reader_->parts().back().path, error->message)};
  }

  /// Rule 1.
  bool is_about_others(const JournalText& text) const {
    if (reads_all() || !chapter_) return false;
    if (is_of(text, JournalType::cycle)) return !search_.finds_one_in(what_came_of(text.text));
    return is_of(text, JournalType::changes) && !search_.finds_one_in(text.text) &&
           !search_.finds_node_in(text.text);
  }

  bool is_continuing(const BaseRecord& base, bool after_gap) {
    const bool has_begun = chapter_.has_value();
    const bool follows = base.cycles == cycles_so_far();
    if (has_begun && !after_gap && !follows)
      walk_.discontinuous_files.push_back(reader_->parts().back().path);
    cycles_before_ = base.cycles;
    last_cycle_.clear();
    return has_begun && !after_gap && follows && !base.begins;
  }

  bool reads_all() const { return reading_ == StoryReading::everything || !is_kept_; }
  /// The number of the last cycle.
  std::uint64_t cycles_so_far() const {
    if (last_cycle_.empty()) return cycles_before_;
    const Result<JournalRecord> record =
        read_journal_record(static_cast<std::uint8_t>(JournalType::cycle), last_cycle_);
    const auto* const cycle = record ? std::get_if<CycleRecord>(&*record) : nullptr;
    return cycle == nullptr ? 0 : cycle->number;
  }

  const JournalWorld* world() {
    if (reads_all() || !chapter_) return &walk_.world;
    if (std::optional<Error> error = find_world()) {
      if (!walk_.error) walk_.error = std::move(error);
      return nullptr;
    }
    return is_over_() ? nullptr : &walk_.world;
  }

  /// Before the base of the chapter. The file may have another name by now.
  std::optional<Error> begin_place() {
    for (const std::string& path : journal_paths(path_)) {
      Result<JournalReader> reader = JournalReader::open_at({path}, chapter_->offset);
      if (!reader || reader->file() != chapter_->file) continue;
      const Result<JournalRecord> rules = read_journal_record(
          static_cast<std::uint8_t>(JournalType::configuration), chapter_->rules);
      walk_.world = JournalWorld();
      place_.emplace(Place{.reader = *std::move(reader)});
      return rules ? walk_.world.take({.record = *rules}) : std::nullopt;
    }
    return Error{.message =
                     fmt::format("{}: a file went away while it was read; try again, or keep "
                                 "more of them with --journal-files",
                                 path_)};
  }

  std::optional<Error> find_world() {
    if (!place_) {
      if (std::optional<Error> error = begin_place()) return error;
    }
    while (place_->records < chapter_->records && !is_over_()) {
      const Result<std::optional<JournalText>> text = place_->reader.next_text();
      if (!text) return text.error();
      if (!*text) return Error{.message = fmt::format("{}: it became shorter", path_)};
      // The last record says what time it is.
      const bool is_last = ++place_->records == chapter_->records;
      if (is_of(**text, JournalType::cycle) && !is_last && is_about_others(**text)) continue;
      const Result<JournalEntry> entry = place_->reader.understood(**text);
      if (!entry) return entry.error();
      if (std::optional<Error> error = take(*entry)) return error;
    }
    return std::nullopt;
  }

  std::string path_;
  WhyStory& story_;
  const std::function<bool()>& is_over_;
  StoryReading reading_;
  std::optional<JournalReader> reader_;
  bool is_kept_ = true;  ///< A file on a disk.
  NameSearch search_;
  std::string rules_;                ///< The last record of a configuration.
  std::string last_cycle_;           ///< The last record of a cycle since the base; empty: none.
  JournalText last_;                 ///< The last one that says when it was written.
  std::uint64_t cycles_before_ = 0;  ///< The base.
  std::optional<Chapter> chapter_;
  std::optional<Place> place_;
  JournalWalk walk_;
};

// ---- The world ----------------------------------------------------------------------------------

}  // namespace

JournalWalk walk_story(const std::string& path, WhyStory& story,
                       const std::function<bool()>& is_over, StoryReading reading) {
  return StoryWalk(path, story, is_over, reading).walk();
}

}  // namespace makeway::cli
