#include "cli/run/decision_log.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/printable.hpp"
#include "codec/writer.hpp"

namespace makeway::cli {
namespace {

constexpr std::size_t value_bytes_max = 2'000;

std::string_view level_word(LogLevel level) {
  switch (level) {
    case LogLevel::info: return "info";
    case LogLevel::warning: return "warning";
    case LogLevel::error: break;
  }
  return "error";
}

/// What needs no quotes.
bool is_plain(std::string_view value) {
  return std::ranges::all_of(value, [](char letter) {
    return (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z') ||
           (letter >= '0' && letter <= '9') || std::string_view("-._/:@+,%").contains(letter);
  });
}

void append_pair(std::string& line, std::string_view key, const LogValue& value) {
  if (!line.empty()) line += ' ';
  line += fmt::format("{}=", key);
  const std::string* const text = std::get_if<std::string>(&value);
  if (text == nullptr) {
    line += fmt::format("{}", std::get<std::int64_t>(value));
  } else if (is_plain(*text)) {
    line += *text;
  } else {
    append_json_string(line, *text);
  }
}

}  // namespace

std::string log_line(bool json, Time now, LogLevel level, std::string_view event,
                     const std::vector<LogField>& fields) {
  std::vector<LogField> pairs = {{"time", to_text(now)},
                                 {"level", std::string(level_word(level))},
                                 {"event", std::string(event)}};
  for (const auto& [key, value] : fields) {
    const std::string* const text = std::get_if<std::string>(&value);
    if (text == nullptr) {
      pairs.emplace_back(key, value);
    } else if (!text->empty()) {
      pairs.emplace_back(key, shorten(*text, value_bytes_max));
    }
  }
  std::string line;
  if (!json) {
    for (const auto& [key, value] : pairs) append_pair(line, key, value);
    return line + "\n";
  }
  JsonWriter writer(line, JsonStyle::compact);
  writer.begin_object();
  for (const auto& [key, value] : pairs) {
    if (const std::int64_t* const number = std::get_if<std::int64_t>(&value)) {
      writer.integer_field(key, *number);
    } else {
      writer.string_field(key, std::get<std::string>(value));
    }
  }
  writer.end_object();
  return line;
}

namespace {

/// "n1" of a pod, "n1:2,n2:1" of a group.
std::string places_text(const PlanAsk& ask) {
  if (ask.placements.empty()) return {};
  if (ask.kind == AskKind::pod) return ask.placements.front().node;
  std::map<std::string_view, std::size_t> pods;
  for (const PodPlacement& place : ask.placements) ++pods[place.node];
  std::string text;
  for (const auto& [node, count] : pods) {
    text += fmt::format("{}{}:{}", text.empty() ? "" : ",", node, count);
  }
  return text;
}

/// Nothing for none.
LogValue log_count(std::size_t count) {
  return count == 0 ? LogValue{} : LogValue(static_cast<std::int64_t>(count));
}

/// The first clause of a reason, without its numbers.
std::string cause_of(std::string_view reason) {
  std::string cause(reason.substr(0, reason.find_first_of(";:")));
  std::erase_if(cause, [](char letter) { return letter >= '0' && letter <= '9'; });
  return cause;
}

}  // namespace

void DecisionLog::batch(const AppliedBatch& batch, const Cluster& /*cluster*/) {
  for (const Change& change : batch.changes) forget(change);
  for (const Receipt& receipt : batch.receipts) {
    if (is_logged(receipt, batch.now)) continue;
    log_.write(LogLevel::warning, "refused",
               {{"plan", receipt.plan},
                {"object", ref_text(receipt.object)},
                {"plane", receipt.object.plane},
                {"for", ref_text(receipt.ask)},
                {"reason", receipt.reason}});
  }
}

/// An action that a brake holds back is requested again and again; it is logged once until then.
bool DecisionLog::is_logged(const Receipt& receipt, Time now) {
  if (!receipt.again_at) return false;
  std::erase_if(braked_, [now](const auto& each) { return each.second <= now; });
  return !braked_.try_emplace({receipt.object, receipt.ask}, *receipt.again_at).second;
}

void DecisionLog::forget(const Change& change) {
  AskName ask;
  if (const auto* const gone = std::get_if<Removal>(&change)) {
    const bool is_group = gone->kind == ObjectKind::pod_group;
    if (!is_group && gone->kind != ObjectKind::pod) return;
    ask = {.kind = is_group ? AskKind::pod_group : AskKind::pod,
           .namespace_name = gone->namespace_name,
           .name = gone->name};
  } else {
    const auto* const pod = std::get_if<Pod>(&change);
    if (pod == nullptr || pod->node.empty()) return;
    ask = {.kind = AskKind::pod, .namespace_name = pod->namespace_name, .name = pod->name};
  }
  last_answers_.erase(ask);
  if (!undecided_.empty()) undecided_.erase(ask_text(ask));
}

bool DecisionLog::log_ask(const Plan& plan, const PlanAsk& ask) {
  const std::string places = places_text(ask);
  std::string answer =
      fmt::format("{} {} {}", choice_name(ask.outcome), places, cause_of(ask.reason));
  for (const PlanVictim& victim : ask.victims) answer += " " + victim.name;
  const auto [last, is_new] = last_answers_.try_emplace(ask_name_of(ask));
  if (!is_new && last->second == answer) return false;
  last->second = std::move(answer);
  const std::string name = ask_text(ask);
  log_.write(LogLevel::info, "decided",
             {{"plan", plan.id},
              {"ask", name},
              {"priority", ask.priority},
              {"profile", ask.profile},
              {"outcome", std::string(choice_name(ask.outcome))},
              {ask.kind == AskKind::pod ? "node" : "nodes", places},
              {"victims", log_count(ask.victims.size())},
              {"reason", ask.reason}});
  for (const PlanVictim& victim : ask.victims) {
    log_.write(LogLevel::info, "victim",
               {{"plan", plan.id},
                {"pod", fmt::format("{}/{}", victim.namespace_name, victim.name)},
                {"unit", victim.unit},
                {"node", victim.node},
                {"priority", victim.priority},
                {"for", name},
                {"cause", victim.reason},
                {"alternative", victim.cause_alternative},
                {"lostOn", victim.cause_key},
                {"violatesBudget", victim.budget}});
  }
  return true;
}

void DecisionLog::log_counts(const Plan& plan, bool has_changes) {
  std::array<std::size_t, choice_names<Outcome>.size()> outcomes{};
  std::array<std::size_t, choice_names<ActionType>.size()> actions{};
  for (const PlanAsk& ask : plan.asks) ++outcomes.at(static_cast<std::size_t>(ask.outcome));
  for (const PlanAction& action : plan.actions) {
    if (action.type == ActionType::wait) continue;  // Nothing is done.
    ++actions.at(static_cast<std::size_t>(action.type));
    has_changes = true;
  }
  if (!has_changes) return;
  std::vector<LogField> fields = {{"plan", plan.id}, {"asks", log_count(plan.asks.size())}};
  for (std::size_t at = 0; at < outcomes.size(); ++at) {
    fields.emplace_back(choice_names<Outcome>.at(at), log_count(outcomes.at(at)));
  }
  for (std::size_t at = 0; at < actions.size(); ++at) {
    fields.emplace_back(choice_names<ActionType>.at(at), log_count(actions.at(at)));
  }
  log_.write(LogLevel::info, "cycle", fields);
}

void DecisionLog::log_undecided(const MadeCycle& cycle) {
  std::map<std::string, std::string> now;
  for (const Problem& problem : cycle.made.problems) {
    now[problem.object] = problem.message;
    const auto before = undecided_.find(problem.object);
    if (before != undecided_.end() && before->second == problem.message) continue;
    log_.write(LogLevel::warning, "not-decided",
               {{"object", problem.object},
                {"field", problem.field},
                {"value", problem.value},
                {"reason", problem.message},
                {"remedy", problem.remedy}});
  }
  if (!undecided_.empty()) {
    for (const AskName& ask : cycle.due) undecided_.erase(ask_text(ask));
  }
  undecided_.merge(now);
}

void DecisionLog::cycle(const MadeCycle& cycle, const Cluster& cluster) {
  for (const RefusedPlan& refused : cycle.made.refused) {
    for (const LawBreach& breach : refused.breaches) {
      log_.write(LogLevel::error, "law-broken",
                 {{"plan", refused.id},
                  {"law", breach.law},
                  {"ask", breach.ask},
                  {"reason", breach.text}});
    }
  }
  if (cycle.made.shows_bug()) log_bug(cycle, cluster);
  log_undecided(cycle);
  if (!cycle.made.plan) return;
  const Plan& plan = *cycle.made.plan;
  for (const PlanLeftOut& out : plan.left_out) {
    log_.write(
        LogLevel::error, "left-out",
        {{"plan", plan.id},
         {"ask", ask_text(AskName{
                     .kind = out.kind, .namespace_name = out.namespace_name, .name = out.name})},
         {"reason", out.reason}});
  }
  if (!plan.withheld.empty()) {
    log_.write(LogLevel::error, "withheld", {{"plan", plan.id}, {"reason", plan.withheld}});
  }
  bool has_changes = false;
  for (const PlanAsk& ask : plan.asks) has_changes = log_ask(plan, ask) || has_changes;
  log_counts(plan, has_changes);
}

void DecisionLog::ends(const Plan& plan) {
  std::map<std::optional<ObjectRef>, std::string> reasons;
  for (const PlanAsk& ask : plan.asks) reasons[ref_of(ask)] = ask.reason;
  for (const PlanAction& action : plan.actions) {
    log_.write(LogLevel::warning, "half-gang",
               {{"plan", plan.id},
                {"pod", fmt::format("{}/{}", action.namespace_name, action.name)},
                {"node", action.node},
                {"group", ref_text(action.ask)},
                {"reason", reasons[action.ask]}});
  }
}

void DecisionLog::log_bug(const MadeCycle& cycle, const Cluster& cluster) {
  has_seen_bug_ = true;
  const PlanRequest request{.now = cycle.now,
                            .preset = document_.name,
                            .asks = {cycle.due.begin(), cycle.due.end()},
                            .explain = false};
  const std::string text = report_bug(
      {.cluster = cluster, .configuration = document_, .request = request, .made = cycle.made},
      bug_files_);
  log_.write(LogLevel::error, "bug", {{"reason", text}});
}

}  // namespace makeway::cli
