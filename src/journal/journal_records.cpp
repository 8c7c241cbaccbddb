#include "journal/journal_records.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>

#include "codec/changes.hpp"
#include "codec/configuration_codec.hpp"
#include "codec/dump.hpp"
#include "codec/json_value.hpp"
#include "codec/plan_codec.hpp"
#include "codec/recorded_configuration.hpp"
#include "codec/writer.hpp"

namespace makeway {
namespace {

// ---- Writing ------------------------------------------------------------------------------------

void write_ask(DocumentWriter& writer, const AskName& ask) {
  writer.string_field("kind", choice_name(ask.kind));
  writer.string_field("namespace", ask.namespace_name);
  writer.string_field("name", ask.name);
}

void write_asks(DocumentWriter& writer, std::string_view key, std::span<const AskName> asks) {
  write_list(writer, key, asks, [&](const AskName& ask) { write_ask(writer, ask); });
}

void write_states(DocumentWriter& writer, std::string_view key, std::span<const AskState> states) {
  write_list(writer, key, states, [&](const AskState& state) {
    write_ask(writer, state.ask);
    writer.string_field("outcome", choice_name(state.outcome));
    writer.string_field("reason", state.reason);
    writer.string_field("since", to_text(state.since));
  });
}

/// One line, in which `write` sets the members.
template <class Write>
std::string line_of(const Write& write) {
  std::string text;
  JsonWriter writer(text, JsonStyle::compact);
  writer.begin_object();
  write(writer);
  writer.end_object();
  return text;
}

// ---- Reading ------------------------------------------------------------------------------------

/// The members of an object; the first one that is missing or of another type is remembered.
class Members {
 public:
  explicit Members(const JsonValue& tree) : tree_(tree) {}

  std::string text(std::string_view key) {
    const JsonValue* const value = tree_.find(key);
    if (value != nullptr && value->as_string() != nullptr) return *value->as_string();
    miss(key);
    return {};
  }
  std::uint64_t count(std::string_view key) {
    const JsonValue* const value = tree_.find(key);
    if (value != nullptr && value->as_integer() != nullptr && *value->as_integer() >= 0) {
      return static_cast<std::uint64_t>(*value->as_integer());
    }
    miss(key);
    return 0;
  }
  bool flag(std::string_view key) {
    const JsonValue* const value = tree_.find(key);
    if (value != nullptr && value->as_boolean() != nullptr) return *value->as_boolean();
    miss(key);
    return false;
  }
  Time time(std::string_view key) {
    const Result<Time> value = parse_time(text(key));
    if (!value) miss(key);
    return value.value_or(Time{});
  }
  ObjectRef reference(std::string_view key) {
    std::optional<ObjectRef> value = parse_ref(text(key));
    if (!value) miss(key);
    return value.value_or(ObjectRef{});
  }
  template <class Choice>
  Choice choice(std::string_view key) {
    const std::string name = text(key);
    const auto& names = choice_names<Choice>;
    const auto found = std::ranges::find(names, std::string_view(name));
    if (found != names.end()) return static_cast<Choice>(found - names.begin());
    miss(key);
    return {};
  }
  /// Calls `read(members)` for each object of the list.
  template <class Read>
  void list(std::string_view key, const Read& read) {
    const JsonValue* const value = tree_.find(key);
    if (value == nullptr || value->as_array() == nullptr) return miss(key);
    for (const JsonValue& item : *value->as_array()) {
      Members members(item);
      read(members);
      if (!members.missing_.empty()) miss(fmt::format("{}.{}", key, members.missing_));
    }
  }

  const JsonValue* find(std::string_view key) const { return tree_.find(key); }
  void miss(std::string_view key) {
    if (missing_.empty()) missing_ = key;
  }
  /// The record, if nothing was missing.
  Result<JournalRecord> done(JournalRecord record) const {
    if (missing_.empty()) return record;
    return input_error(fmt::format("the member {} is missing or wrong", missing_));
  }

 private:
  const JsonValue& tree_;
  std::string missing_;
};

AskName read_ask(Members& from) {
  return {.kind = from.choice<AskKind>("kind"),
          .namespace_name = from.text("namespace"),
          .name = from.text("name")};
}

std::vector<AskName> read_asks(Members& from, std::string_view key) {
  std::vector<AskName> asks;
  from.list(key, [&](Members& item) { asks.push_back(read_ask(item)); });
  return asks;
}

std::vector<AskState> read_states(Members& from, std::string_view key) {
  std::vector<AskState> states;
  from.list(key, [&](Members& item) {
    states.push_back({.ask = read_ask(item),
                      .outcome = item.choice<Outcome>("outcome"),
                      .reason = item.text("reason"),
                      .since = item.time("since")});
  });
  return states;
}

/// Without the newline at its end.
std::string document_line(std::string_view rest) {
  if (rest.ends_with('\n')) rest.remove_suffix(1);
  return std::string(rest);
}

Result<JournalRecord> read_configuration_record(Members& from) {
  ConfigurationRecord record{
      .preset = from.text("preset"),
      .carries_out = from.find("carriesOut") == nullptr || from.flag("carriesOut")};
  const JsonValue* const tree = from.find("configuration");
  if (tree == nullptr) {
    from.miss("configuration");
    return from.done({});
  }
  RecordedConfiguration recorded = read_recorded_configuration(*tree);
  ConfigurationReading& reading = recorded.reading;
  if (!reading.document) return input_error(to_text(reading.problems.front()));
  record.configuration = std::move(reading.document->configuration);
  record.hash = std::move(recorded.hash);
  return from.done(std::move(record));
}

Result<JournalRecord> read_base_record(Members& from, std::string_view rest) {
  BaseRecord record{.now = from.time("now"),
                    .begins = from.flag("begins"),
                    .cycles = from.count("cycles"),
                    .waiting = read_states(from, "waiting"),
                    .objects = std::string(rest)};
  return from.done(std::move(record));
}

Result<JournalRecord> read_changes_record(Members& from, std::string_view rest) {
  ChangesRecord record{.now = from.time("now"), .effects = from.count("effects")};
  const std::uint64_t count = from.count("changes");
  const std::optional<Error> error =
      read_changes(rest, [&](const Change& change) { record.changes.push_back(change); });
  if (error) return std::unexpected(*error);
  if (record.changes.size() != count) from.miss("changes");
  if (record.effects > count) from.miss("effects");
  return from.done(std::move(record));
}

Result<JournalRecord> read_cycle_record(Members& from, std::string_view rest) {
  CycleRecord record{.number = from.count("number"),
                     .now = from.time("now"),
                     .judged = from.flag("judged"),
                     .due = read_asks(from, "due"),
                     .plan_id = from.text("plan"),
                     .changed = read_states(from, "changed"),
                     .plan = document_line(rest)};
  return from.done(std::move(record));
}

Result<JournalRecord> read_receipts_record(Members& from) {
  ReceiptsRecord record{.now = from.time("now")};
  from.list("receipts", [&](Members& item) {
    record.receipts.push_back({.plan = item.text("plan"),
                               .object = item.reference("object"),
                               .reason = item.text("reason")});
    if (item.find("plane") != nullptr) record.receipts.back().object.plane = item.text("plane");
  });
  return from.done(std::move(record));
}

Result<JournalRecord> read_refused_record(Members& from, std::string_view rest) {
  RefusedRecord record{.cycle = from.count("cycle"),
                       .now = from.time("now"),
                       .plan_id = from.text("plan"),
                       .plan = document_line(rest)};
  from.list("breaches", [&](Members& item) {
    const std::uint64_t law = item.count("law");
    if (law > 100) item.miss("law");
    record.breaches.push_back({.law = static_cast<int>(std::min<std::uint64_t>(law, 100)),
                               .ask = item.text("ask"),
                               .text = item.text("text"),
                               .asks = read_asks(item, "asks")});
  });
  return from.done(std::move(record));
}

}  // namespace

bool acts(const Plan& plan) {
  return !plan.actions.empty() || !plan.queue_status.empty() || !plan.replica_status.empty() ||
         !plan.left_out.empty() || !plan.withheld.empty();
}

std::string configuration_text(const LoopStart& start) {
  return line_of([&](JsonWriter& writer) {
    writer.string_field("preset", start.preset);
    if (!start.carries_out) writer.boolean_field("carriesOut", false);
    writer.key("configuration");
    write_configuration(writer,
                        {.name = std::string(start.preset), .configuration = start.configuration});
  });
}

std::string base_text(const BaseHead& head, const Cluster& cluster) {
  std::string text = line_of([&](JsonWriter& writer) {
    writer.string_field("now", to_text(head.now));
    writer.boolean_field("begins", head.begins);
    writer.integer_field("cycles", static_cast<std::int64_t>(head.cycles));
    write_states(writer, "waiting", head.waiting);
  });
  JsonWriter writer(text, JsonStyle::compact);
  write_cluster(writer, cluster);
  return text;
}

std::string changes_text(const AppliedBatch& batch) {
  std::string text = line_of([&](JsonWriter& writer) {
    writer.string_field("now", to_text(batch.now));
    writer.integer_field("changes", std::ssize(batch.changes) + std::ssize(batch.effects));
    writer.integer_field("effects", std::ssize(batch.effects));
  });
  JsonWriter writer(text, JsonStyle::compact);
  for (const Change& change : batch.changes) write_change(writer, change);
  for (const Change& change : batch.effects) write_change(writer, change);
  return text;
}

std::string cycle_text(std::uint64_t number, const MadeCycle& cycle,
                       std::span<const AskState> changed) {
  const std::optional<Plan>& plan = cycle.made.plan;
  std::string text = line_of([&](JsonWriter& writer) {
    writer.integer_field("number", static_cast<std::int64_t>(number));
    writer.string_field("now", to_text(cycle.now));
    writer.boolean_field("judged", cycle.judged);
    write_asks(writer, "due", cycle.due);
    writer.string_field("plan", plan ? std::string_view(plan->id) : std::string_view());
    write_states(writer, "changed", changed);
  });
  if (plan && acts(*plan)) text += plan_text_json(*plan, PlanDetail::brief, JsonStyle::compact);
  return text;
}

std::string receipts_text(Time now, std::span<const Receipt> receipts) {
  return line_of([&](JsonWriter& writer) {
    writer.string_field("now", to_text(now));
    write_list(writer, "receipts", receipts, [&](const Receipt& receipt) {
      writer.string_field("plan", receipt.plan);
      writer.string_field("object", ref_text(receipt.object));
      writer.string_field("reason", receipt.reason);
      if (!receipt.object.plane.empty()) writer.string_field("plane", receipt.object.plane);
    });
  });
}

std::string refused_text(std::uint64_t cycle, Time now, const RefusedPlan& refused) {
  std::string text = line_of([&](JsonWriter& writer) {
    writer.integer_field("cycle", static_cast<std::int64_t>(cycle));
    writer.string_field("now", to_text(now));
    writer.string_field("plan", refused.id);
    write_list(writer, "breaches", refused.breaches, [&](const LawBreach& breach) {
      writer.integer_field("law", breach.law);
      writer.string_field("ask", breach.ask);
      writer.string_field("text", breach.text);
      write_asks(writer, "asks", breach.asks);
    });
  });
  return text + plan_text_json(refused.plan, PlanDetail::brief, JsonStyle::compact);
}

Result<JournalRecord> read_journal_record(std::uint8_t type, std::string_view text) {
  const std::size_t end = text.find('\n');
  if (end == std::string_view::npos) return input_error("the record has no whole line");
  const auto tree = parse_json_value(text.substr(0, end));
  if (!tree) return input_error(to_text(tree.error()));
  const std::string_view rest = text.substr(end + 1);
  Members from(*tree);
  switch (static_cast<JournalType>(type)) {
    case JournalType::configuration: return read_configuration_record(from);
    case JournalType::base: return read_base_record(from, rest);
    case JournalType::changes: return read_changes_record(from, rest);
    case JournalType::cycle: return read_cycle_record(from, rest);
    case JournalType::receipts: return read_receipts_record(from);
    case JournalType::refused: return read_refused_record(from, rest);
  }
  return input_error(fmt::format("a record of type {}, which this version does not know", type));
}

}  // namespace makeway
