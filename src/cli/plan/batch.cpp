#include "cli/plan/batch.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <new>
#include <span>

#include "cli/plan/plan_text.hpp"
#include "cli/problem_text.hpp"
#include "cli/text.hpp"
#include "codec/batch_line.hpp"
#include "codec/line_source.hpp"
#include "codec/load.hpp"
#include "codec/writer.hpp"
#include "model/knobs.hpp"

namespace makeway::cli {
namespace {

/// The first five are compared.
constexpr std::array<std::string_view, 8> known_keys = {
    "outcome",          "victims",    "node",       "fitsNodes",
    "budgetViolations", "placements", "candidates", "groupDisruptions"};
constexpr std::string_view error_key = "error";

void refuse(Problems& problems, std::string_view key, std::string_view wanted,
            const JsonValue& found) {
  problems.push_back({.field = fmt::format("expect.{}", key),
                      .message = fmt::format("expected {}, found {}", wanted, found.type_name())});
}

std::optional<std::string> text_of(const JsonMember& member, Problems& problems) {
  if (const std::string* const text = member.value.as_string()) return *text;
  refuse(problems, member.key, "a string", member.value);
  return std::nullopt;
}

std::optional<std::vector<std::string>> texts_of(const JsonMember& member, Problems& problems) {
  std::vector<std::string> texts;
  if (const JsonValue::Array* const array = member.value.as_array()) {
    for (const JsonValue& item : *array) {
      if (const std::string* const text = item.as_string()) texts.push_back(*text);
    }
    std::ranges::sort(texts);
    if (texts.size() == array->size()) return texts;
  }
  refuse(problems, member.key, "a list of strings", member.value);
  return std::nullopt;
}

std::string remedy_of(std::string_view nearest, std::span<const std::string_view> all) {
  return nearest.empty() ? fmt::format("known are {}", fmt::join(all, ", "))
                         : fmt::format("did you mean {}?", nearest);
}

std::optional<std::string> outcome_of(const JsonMember& member, Problems& problems) {
  std::optional<std::string> text = text_of(member, problems);
  const std::span<const std::string_view> outcomes = choice_names<Outcome>;
  if (!text || std::ranges::find(outcomes, *text) != outcomes.end()) return text;
  problems.push_back({.field = "expect.outcome",
                      .value = shorten(*text),
                      .message = "there is no such outcome",
                      .remedy = remedy_of(nearest_of(outcomes, *text), outcomes)});
  return std::nullopt;
}

void read_member(const JsonMember& member, Expectation& expected, Problems& problems) {
  if (std::ranges::find(known_keys, member.key) == known_keys.end()) {
    problems.push_back(
        {.field = fmt::format("expect.{}", shorten(member.key)),
         .message = "nothing of that name is compared",
         .remedy = remedy_of(nearest_of(known_keys, member.key), std::span(known_keys).first(5))});
    return;
  }
  if (member.value.is_null()) return;
  if (member.key == "outcome") {
    expected.outcome = outcome_of(member, problems);
  } else if (member.key == "victims") {
    expected.victims = texts_of(member, problems);
  } else if (member.key == "node") {
    expected.node = text_of(member, problems);
  } else if (member.key == "fitsNodes") {
    expected.fits_nodes = texts_of(member, problems);
  } else if (member.key == "budgetViolations") {
    const std::int64_t* const count = member.value.as_integer();
    if (count == nullptr) return refuse(problems, member.key, "an integer", member.value);
    expected.budget_violations = *count;
  } else if (member.key == "placements") {
    expected.placements = read_placements(member.value, "expect.placements", problems);
  }
}

JsonValue text_value(std::string_view text) { return {.data = std::string(text)}; }

JsonValue list_value(const std::vector<std::string>& texts) {
  JsonValue::Array array;
  for (const std::string& text : texts) array.push_back({.data = text});
  return {.data = std::move(array)};
}

/// Peers do not distinguish waiting, and not having found anything, from having no place.
bool agrees(std::string_view expected, Outcome outcome) {
  const bool no_place = outcome == Outcome::waits || outcome == Outcome::not_found;
  return expected == choice_name(outcome) ||
         (no_place && expected == choice_name(Outcome::infeasible));
}

std::vector<std::string> victims_of(const PlanAsk& ask) {
  std::vector<std::string> names;
  names.reserve(ask.victims.size());
  for (const PlanVictim& victim : ask.victims) {
    names.push_back(fmt::format("{}/{}", victim.namespace_name, victim.name));
  }
  std::ranges::sort(names);
  return names;
}

std::int64_t violations_of(const PlanAsk& ask) {
  const auto term = std::ranges::find(ask.score, ScoreKey::budget_violations, &ScoreTerm::key);
  if (term != ask.score.end()) return term->value;
  return std::ranges::count_if(ask.victims, &PlanVictim::violates_budget);
}

/// Empty: no placement, or several nodes.
std::string node_of(const PlanAsk& ask) {
  if (ask.placements.empty()) return {};
  const std::string& node = ask.placements.front().node;
  return std::ranges::all_of(ask.placements,
                             [&](const PodPlacement& placement) { return placement.node == node; })
             ? node
             : std::string{};
}

/// Null when the ask has no single node.
JsonValue node_value(const PlanAsk& ask) {
  std::string node = node_of(ask);
  return node.empty() ? JsonValue{} : JsonValue{.data = std::move(node)};
}

std::string summary_line(const Verification& verification) {
  std::string line =
      fmt::format("{}: {} agree", counted(verification.cases, "case"), grouped(verification.agree));
  const auto part = [&](std::uint64_t count, std::string_view what) {
    if (count > 0) line += fmt::format(", {} {}", grouped(count), what);
  };
  part(verification.differ, "differ");
  part(verification.failed, "could not be compared");
  part(verification.without_expectation, "without an expectation");
  return line + "\n";
}

}  // namespace

Expectation read_expectation(const JsonValue& value, Problems& problems) {
  Expectation expected;
  const JsonValue::Object* const object = value.as_object();
  if (object == nullptr) {
    problems.push_back({.field = "expect",
                        .message = fmt::format("expected a mapping, found {}", value.type_name())});
    return expected;
  }
  for (const JsonMember& member : *object) read_member(member, expected, problems);
  return expected;
}

std::vector<Mismatch> compare(const JsonValue& id, const Expectation& expected, const Plan& free,
                              const Plan& placed) {
  std::vector<Mismatch> mismatches;
  const auto differ = [&](std::string_view key, JsonValue wanted, JsonValue got) {
    mismatches.push_back(
        {.id = id, .key = std::string(key), .expected = std::move(wanted), .got = std::move(got)});
  };
  if (free.asks.size() != 1 || placed.asks.size() != 1) {
    differ("ask", text_value("one ask"), text_value(counted(free.asks.size(), "ask")));
    return mismatches;
  }
  const PlanAsk& ask = free.asks.front();
  if (expected.outcome && !agrees(*expected.outcome, ask.outcome)) {
    differ("outcome", text_value(*expected.outcome), text_value(choice_name(ask.outcome)));
  }
  const std::vector<std::string> victims = victims_of(placed.asks.front());
  if (expected.victims && *expected.victims != victims) {
    differ("victims", list_value(*expected.victims), list_value(victims));
  }
  if (expected.node && *expected.node != node_of(ask)) {
    differ("node", text_value(*expected.node), node_value(ask));
  }
  if (expected.fits_nodes && ask.outcome == Outcome::fits &&
      !std::ranges::binary_search(*expected.fits_nodes, node_of(ask))) {
    differ("fitsNodes", list_value(*expected.fits_nodes), node_value(ask));
  }
  const std::int64_t violations = violations_of(placed.asks.front());
  if (expected.budget_violations && *expected.budget_violations != violations) {
    differ("budgetViolations", {.data = *expected.budget_violations}, {.data = violations});
  }
  return mismatches;
}

std::string value_text(const JsonValue& value) {
  if (value.is_null()) return "none";
  if (const std::string* const text = value.as_string()) return printable(*text);
  if (const JsonValue::Array* const array = value.as_array()) {
    std::vector<std::string> texts;
    for (const JsonValue& item : *array) texts.push_back(value_text(item));
    return texts.empty() ? std::string("none") : fmt::format("{}", fmt::join(texts, ", "));
  }
  std::string text;
  JsonWriter writer(text, JsonStyle::compact);
  write_value(value, writer);
  text.pop_back();  // The end of the line.
  return text;
}

std::string verification_text(const Verification& verification) {
  std::string text;
  for (const Mismatch& mismatch : verification.mismatches) {
    const std::string id = value_text(mismatch.id);
    if (mismatch.key == error_key) {
      text += fmt::format("{}: could not be compared\n  {}\n", id, value_text(mismatch.got));
      continue;
    }
    text += fmt::format("{}: {}\n  expected  {}\n  got       {}\n", id, mismatch.key,
                        value_text(mismatch.expected), value_text(mismatch.got));
  }
  return text + summary_line(verification);
}

std::string verification_json(const Verification& verification) {
  std::string text;
  JsonWriter writer(text);
  const auto count = [&](std::string_view name, std::uint64_t value) {
    writer.integer_field(name, static_cast<std::int64_t>(value));
  };
  writer.begin_object();
  count("cases", verification.cases);
  count("agree", verification.agree);
  count("differ", verification.differ);
  count("failed", verification.failed);
  count("withoutExpectation", verification.without_expectation);
  write_list(writer, "mismatches", verification.mismatches, [&](const Mismatch& mismatch) {
    writer.key("id");
    write_value(mismatch.id, writer);
    writer.string_field("key", mismatch.key);
    writer.key("expected");
    write_value(mismatch.expected, writer);
    writer.key("got");
    write_value(mismatch.got, writer);
  });
  writer.end_object();
  return text;
}

namespace {

/// A line on standard error that overwrites itself, and is gone at the end. Not shown where plans
/// run over the same screen.
class BatchProgress {
 public:
  BatchProgress(const BatchOptions& options, const PlanTools& tools, Terminal& terminal)
      : terminal_(terminal),
        tools_(tools),
        wanted_(terminal.error_is_terminal && (options.verify || !terminal.out_is_terminal)),
        next_(wanted_ ? tools.microseconds() + patience : 0) {}
  BatchProgress(const BatchProgress&) = delete;
  BatchProgress& operator=(const BatchProgress&) = delete;
  ~BatchProgress() {
    if (shown_) terminal_.error.write(erase_line);
  }

  void step(std::uint64_t cases) {
    if (!wanted_) return;
    const std::int64_t now = tools_.microseconds();
    if (now < next_) return;
    terminal_.error.write(fmt::format("{}{} planned", erase_line, counted(cases, "case")));
    shown_ = true;
    next_ = now + redraw_interval;
  }

 private:
  static constexpr std::int64_t patience = 1'000'000;
  static constexpr std::int64_t redraw_interval = 100'000;
  static constexpr std::string_view erase_line = "\r\x1b[K";

  Terminal& terminal_;
  const PlanTools& tools_;
  bool wanted_;
  std::int64_t next_;
  bool shown_ = false;
};

/// "first; second; and 3 more problems"
std::string joined(const Problems& problems) {
  constexpr std::size_t shown_max = 3;
  std::string text;
  std::size_t shown = 0;
  for (const Problem* const problem : errors_first(problems)) {
    if (shown == shown_max) break;
    text += fmt::format("{}{}", shown == 0 ? "" : "; ", to_text(*problem));
    ++shown;
  }
  const std::uint64_t more = problems.count() - shown;
  if (more > 0) text += fmt::format("; and {}", counted(more, "more problem"));
  return text;
}

class Batch {
 public:
  Batch(const BatchOptions& options, const PlanTools& tools, Terminal& terminal)
      : options_(options), tools_(tools), terminal_(terminal), standard_(options.standard) {
    name_configuration(standard_, options.configuration);
  }

  BatchResult run() {
    Result<LineSource> source = LineSource::open(options_.path, {});
    if (!source) {
      result_.failure = source.error().message;
      return std::move(result_);
    }
    BatchProgress progress(options_, tools_, terminal_);
    std::string line;
    for (std::uint64_t number = 1;; ++number) {
      const std::int64_t start = tools_.microseconds();
      const Result<bool> more = source->next(line);
      result_.timing.load += tools_.microseconds() - start;
      if (!more) result_.failure = more.error().message;
      if (!more || !*more) break;
      if (line.find_first_not_of(" \t") == std::string::npos) continue;
      ++result_.cases;
      JsonValue id;
      std::string error;
      try {
        error = plan_line(line, number, id);
      } catch (const std::bad_alloc&) {
        error = "out of memory; give it more, or make the case smaller";
      }
      if (!error.empty()) report_error(id, error);
      if (terminal_.out.is_closed()) break;
      progress.step(result_.cases);
    }
    result_.timing.cases = static_cast<std::int64_t>(result_.cases);
    result_.verification.cases = result_.cases;
    return std::move(result_);
  }

 private:
  /// What is wrong, or nothing.
  std::string plan_line(std::string& line, std::uint64_t number, JsonValue& id) {
    const std::int64_t start = tools_.microseconds();
    BatchReading reading = read_batch_line(line);
    result_.timing.load += tools_.microseconds() - start;
    id = reading.id.is_null() ? JsonValue{.data = static_cast<std::int64_t>(number)} : reading.id;
    note_unknown(reading.unknown_keys, id);
    if (!reading.item) return joined(reading.problems);
    return plan_case(*reading.item, id, fmt::format("line {}", number));
  }

  std::string plan_case(const BatchCase& item, const JsonValue& id, const std::string& name) {
    const std::int64_t start = tools_.microseconds();
    LoadResult result = load_text(item.snapshot, name, {},
                                  {.limits = {},
                                   .keep_going = options_.keep_going,
                                   .planes_of_dumps = !options_.configuration.live_trust});
    result_.timing.load += tools_.microseconds() - start;
    if (!result.loaded) return joined(result.problems);

    ConfigurationDocument own;
    std::string error = configuration_of(item, *result.loaded, own);
    if (!error.empty()) return error;
    const bool from_snapshot = result.loaded->configuration && !options_.configuration.live_trust;
    const bool has_own = item.configuration || from_snapshot;
    PlanCase plan_case{.cluster = result.loaded->cluster,
                       .configuration = has_own ? own : standard_,
                       .asks = options_.asks,
                       .workloads = result.loaded->workloads,
                       .ask_field = item.asks.empty() ? "--ask" : "ask",
                       .now = options_.now ? options_.now : item.now,
                       .placements = item.placements,
                       .explain = options_.detail == PlanDetail::with_explanation,
                       .quarantine = &result.loaded->quarantine};
    const TrustReport trust = honour_marks(*result.loaded, plan_case.configuration.configuration,
                                           plan_case.now, options_.configuration.live_trust);
    plan_case.trust = &trust;
    if (options_.keep_going) {
      keep_going_beyond_caps(*result.loaded, plan_case.configuration.configuration);
    }
    note_warnings(*result.loaded, plan_case.configuration.configuration, name);
    if (!item.asks.empty()) plan_case.asks.clear();
    for (const std::string& written : item.asks) {
      Result<WrittenAsk> ask = parse_ask(written, item.ask_kind);
      if (!ask) return fmt::format("ask \"{}\": {}", shorten(written), ask.error().message);
      plan_case.asks.push_back(std::move(*ask));
    }
    return plan_loaded(item, id, plan_case);
  }

  std::string plan_loaded(const BatchCase& item, const JsonValue& id, const PlanCase& plan_case) {
    std::optional<Plan> plan;
    std::string error = attempt(plan_case, plan);
    if (!error.empty()) return error;
    for (const PlanAsk& ask : plan->asks) {
      result_.any_victims |= needs_victims(ask);
      result_.any_infeasible |=
          ask.outcome == Outcome::infeasible || ask.outcome == Outcome::not_found;
    }
    if (options_.verify) return verify_case(item, id, plan_case, *plan);
    print(*plan, id);
    return {};
  }

  std::string verify_case(const BatchCase& item, const JsonValue& id, const PlanCase& plan_case,
                          const Plan& free) {
    Verification& verification = result_.verification;
    if (!item.expect) {
      ++verification.without_expectation;
      return {};
    }
    Problems problems;
    const Expectation expected = read_expectation(*item.expect, problems);
    if (!problems.empty()) return joined(problems);
    if (expected.compares_nothing()) {
      ++verification.without_expectation;
      return {};
    }
    std::optional<Plan> placed;
    if (!expected.placements.empty() && expected.wants_victims()) {
      PlanCase given = plan_case;
      given.placements = expected.placements;
      std::string error = attempt(given, placed);
      if (!error.empty()) return error;
    }
    std::vector<Mismatch> mismatches = compare(id, expected, free, placed ? *placed : free);
    ++(mismatches.empty() ? verification.agree : verification.differ);
    std::ranges::move(mismatches, std::back_inserter(verification.mismatches));
    return {};
  }

  /// The command line comes before the line, and the line before its snapshot.
  std::string configuration_of(const BatchCase& item, const Loaded& loaded,
                               ConfigurationDocument& document) const {
    ConfigurationChoice choice = options_.configuration;
    ConfigurationReading reading;
    if (item.configuration) {
      reading = read_configuration(*item.configuration, MissingKnobs::take_defaults);
      if (!reading.document) return joined(reading.problems);
      choice.found = &*reading.document;
    } else if (loaded.configuration && !choice.live_trust) {
      choice.found = &*loaded.configuration;
    } else {
      return {};
    }
    if (choice.is_named()) {
      document = standard_;
      return {};
    }
    ChosenConfiguration chosen = choose_configuration(choice);
    if (!chosen.usage.empty()) return chosen.usage;
    if (!chosen.document) return joined(chosen.problems);
    document = std::move(*chosen.document);
    name_configuration(document, choice);
    return {};
  }

  std::string attempt(const PlanCase& plan_case, std::optional<Plan>& plan) {
    PlanAttempt attempt = make_plan(plan_case, tools_, result_.timing, bug_files_);
    if (attempt.shows_bug) {
      terminal_.error.write(attempt.bug);
      ++result_.bugs;
      if (!attempt.plan) return "a bug in Makeway: the plan breaks a law; standard error says more";
    }
    if (!attempt.plan) return joined(attempt.problems);
    plan = std::move(attempt.plan);
    return {};
  }

  void note_unknown(const std::vector<std::string>& keys, const JsonValue& id) {
    constexpr std::size_t noted_max = 20;
    for (const std::string& key : keys) {
      std::string name = shorten(key);
      auto noted = result_.unknown_keys.find(name);
      if (noted == result_.unknown_keys.end()) {
        if (result_.unknown_keys.size() == noted_max) continue;
        noted = result_.unknown_keys.emplace(std::move(name), UnknownKey{}).first;
        noted->second.first = shorten(value_text(id));
      }
      ++noted->second.cases;
    }
  }

  /// As for files; a case is identified by its line.
  void note_warnings(const Loaded& loaded, const Configuration& configuration,
                     const std::string& name) {
    constexpr std::size_t noted_max = 20;
    Problems warnings = loaded.warnings;
    std::ranges::move(plan_doubts(loaded, configuration), std::back_inserter(warnings));
    for (Problem& problem : warnings) {
      if (result_.warnings.size() == noted_max) {
        ++result_.warnings_left_out;
        continue;
      }
      if (problem.origin.source.empty()) problem.origin.source = name;
      result_.warnings.push_back(std::move(problem));
    }
  }

  void report_error(const JsonValue& id, const std::string& error) {
    ++result_.errors;
    if (options_.verify) {
      ++result_.verification.failed;
      result_.verification.mismatches.push_back({.id = id,
                                                 .key = "error",
                                                 .expected = {.data = std::string("a comparison")},
                                                 .got = {.data = error}});
      return;
    }
    std::string text;
    JsonWriter writer(text, JsonStyle::compact);
    writer.begin_object();
    writer.key("id");
    write_value(id, writer);
    writer.string_field("error", error);
    writer.end_object();
    write_line(text);
  }

  void print(const Plan& plan, const JsonValue& id) {
    std::string text;
    JsonWriter writer(text, JsonStyle::compact);
    write_plan(writer, plan, options_.detail, &id);
    write_line(text);
  }

  void write_line(std::string_view text) {
    terminal_.out.write(text);
    terminal_.out.flush();
  }

  const BatchOptions& options_;
  const PlanTools& tools_;
  Terminal& terminal_;
  ConfigurationDocument standard_;
  BugFiles bug_files_;
  BatchResult result_;
};

}  // namespace

BatchResult run_batch(const BatchOptions& options, const PlanTools& tools, Terminal& terminal) {
  return Batch(options, tools, terminal).run();
}

}  // namespace makeway::cli
