#include "cli/plan/plan_text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <functional>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <tuple>

#include "cli/command.hpp"
#include "cli/plan/ask_kinds.hpp"
#include "cli/plan/ask_name.hpp"
#include "cli/text.hpp"
#include "model/knobs.hpp"
#include "model/object_text.hpp"
#include "model/queue_membership.hpp"

namespace makeway::cli {
namespace {

/// Which pods and groups are in the queue that is asked for.
class QueueMatch {
 public:
  QueueMatch(const std::string& queue, const Cluster& cluster, const Configuration& configuration)
      : queue_(queue), cluster_(cluster), membership_(cluster, configuration) {
    const ObjectMap<Queue>& queues = cluster.own<Queue>();
    const auto found =
        std::ranges::find_if(queues, [&](const auto& item) { return item.second.name == queue; });
    if (found == queues.end()) return;
    wanted_ = QueueRow{static_cast<std::uint32_t>(std::distance(queues.begin(), found))};
  }

  bool meets(const PlanAsk& ask) const {
    if (ask.kind == AskKind::queue) return ask.name == queue_;
    if (ask.kind == AskKind::pod_group) {
      const auto group = cluster_.find_group(ask.namespace_name, ask.name, ask.plane);
      return group && is_wanted(membership_.of(cluster_.groups()[*group].unit));
    }
    return ask.kind == AskKind::pod && pod_meets(ask.namespace_name, ask.name, ask.plane);
  }
  bool pod_meets(std::string_view namespace_name, std::string_view name,
                 std::string_view plane) const {
    const auto pod = cluster_.find_pod(namespace_name, name, plane);
    return pod && is_wanted(membership_.of(*pod));
  }

 private:
  bool is_wanted(QueueRow row) const { return row.exists() && row == wanted_; }

  const std::string& queue_;
  const Cluster& cluster_;
  QueueMembership membership_;
  QueueRow wanted_;
};

bool meets_namespace(const PlanAsk& ask, std::string_view wanted) {
  bool meets = ask.namespace_name == wanted;
  each_replica_victim(ask, [&](const auto& /*claim*/, const PlanReplicaVictim& victim) {
    meets = meets || victim.namespace_name == wanted;
  });
  return meets ||
         std::ranges::find(ask.victims, wanted, &PlanVictim::namespace_name) != ask.victims.end() ||
         std::ranges::find(ask.waits_for, wanted, &PodPlacement::namespace_name) !=
             ask.waits_for.end();
}

bool meets_node(const PlanAsk& ask, std::string_view wanted) {
  const auto on_it = [&](const auto& list) {
    return std::ranges::any_of(list, [&](const auto& item) { return item.node == wanted; });
  };
  const auto session_there = [&](const PlanSessionVictim& victim) {
    return std::ranges::find(victim.nodes, wanted) != victim.nodes.end();
  };
  return on_it(ask.placements) || on_it(ask.victims) || on_it(ask.waits_for) ||
         (ask.reservation && ask.reservation->node == wanted) ||
         (ask.replicas && on_it(ask.replicas->claims)) ||
         (ask.session && std::ranges::any_of(ask.session->victims, session_there));
}

bool meets_queue(const PlanAsk& ask, const QueueMatch& queue) {
  if (queue.meets(ask)) return true;
  const auto in_it = [&](const auto& pod) {
    return queue.pod_meets(pod.namespace_name, pod.name, pod.plane);
  };
  return std::ranges::any_of(ask.victims, in_it) || std::ranges::any_of(ask.waits_for, in_it);
}

Problem unknown_name(std::string_view flag, const std::string& value, std::string_view message,
                     const std::set<std::string_view>& names) {
  const std::vector<std::string_view> list(names.begin(), names.end());
  const std::string_view nearest = nearest_of(list, value);
  return {.field = std::string(flag),
          .value = value,
          .message = std::string(message),
          .remedy = nearest.empty() ? std::string{} : fmt::format("did you mean {}?", nearest)};
}

std::set<std::string_view> namespaces_of(const Cluster& cluster) {
  std::set<StringId> ids;
  for (const PodIndex pod : cluster.each_pod()) ids.insert(cluster.pods().namespace_name[pod]);
  std::set<std::string_view> names;
  for (const StringId id : ids) names.insert(cluster.text(id));
  for (const Namespace* const each : cluster.namespaces()) names.insert(each->name);
  each_kind([&](auto kind) {
    using Object = typename decltype(kind)::Type;
    if constexpr (OwnObject<Object> && row_of<Object>.scope == Scope::in_namespace) {
      for (const auto& [key, object] : cluster.own<Object>()) names.insert(key.namespace_name);
    }
  });
  return names;
}

}  // namespace

Result<std::vector<Outcome>> parse_outcomes(std::string_view text) {
  constexpr auto& names = choice_names<Outcome>;
  std::vector<Outcome> outcomes;
  while (true) {
    const std::size_t comma = text.find(',');
    const std::string_view word = text.substr(0, comma);
    const auto found = std::ranges::find(names, word);
    if (found == names.end()) {
      return wrong_usage(fmt::format("expected some of {}, with commas{}", fmt::join(names, ", "),
                                     did_you_mean(names, word)));
    }
    outcomes.push_back(static_cast<Outcome>(found - names.begin()));
    if (comma == std::string_view::npos) return outcomes;
    text.remove_prefix(comma + 1);
  }
}

Problems filter_problems(const PlanFilter& filter, const Cluster& cluster) {
  Problems problems;
  if (!filter.node.empty()) {
    std::set<std::string_view> names;
    for (const NodeIndex node : cluster.nodes_by_name()) {
      names.insert(cluster.text(cluster.nodes().name[node]));
    }
    if (!names.contains(filter.node)) {
      problems.push_back(unknown_name("--node", filter.node, "there is no such node", names));
    }
  }
  if (!filter.namespace_name.empty()) {
    const std::set<std::string_view> names = namespaces_of(cluster);
    if (!names.contains(filter.namespace_name)) {
      problems.push_back(unknown_name("--namespace", filter.namespace_name,
                                      "nothing is in this namespace", names));
    }
  }
  if (!filter.queue.empty()) {
    std::set<std::string_view> names;
    for (const auto& [key, queue] : cluster.own<Queue>()) names.insert(queue.name);
    if (!names.contains(filter.queue)) {
      problems.push_back(unknown_name("--queue", filter.queue, "there is no such Queue", names));
    }
  }
  return problems;
}

std::string filter_text(const PlanFilter& filter) {
  std::vector<std::string> parts;
  if (!filter.outcomes.empty()) {
    std::vector<std::string_view> names;
    names.reserve(filter.outcomes.size());
    for (const Outcome outcome : filter.outcomes) names.push_back(choice_name(outcome));
    parts.push_back(fmt::format("outcome {}", fmt::join(names, " or ")));
  }
  const auto part = [&](std::string_view what, const std::string& value) {
    if (!value.empty()) parts.push_back(fmt::format("{} {}", what, shorten(value)));
  };
  part("namespace", filter.namespace_name);
  part("node", filter.node);
  part("queue", filter.queue);
  return fmt::format("{}", fmt::join(parts, ", "));
}

std::vector<const PlanAsk*> filtered(const Plan& plan, const PlanFilter& filter,
                                     const Cluster& cluster, const Configuration& configuration) {
  std::optional<QueueMatch> queue;
  if (!filter.queue.empty()) queue.emplace(filter.queue, cluster, configuration);
  std::vector<const PlanAsk*> shown;
  for (const PlanAsk& ask : plan.asks) {
    const bool outcome_met =
        filter.outcomes.empty() ||
        std::ranges::find(filter.outcomes, ask.outcome) != filter.outcomes.end();
    if (!outcome_met) continue;
    if (!filter.namespace_name.empty() && !meets_namespace(ask, filter.namespace_name)) continue;
    if (!filter.node.empty() && !meets_node(ask, filter.node)) continue;
    if (queue && !meets_queue(ask, *queue)) continue;
    shown.push_back(&ask);
  }
  return shown;
}

namespace {

// The summary of a large plan: the most important facts on one screen.
//
// Four tables: the victims by namespace, owner and priority; the asks without a place, and why; the
// asks that wait, and for what; the asks that get room. Rows are sums over the pods of one owner.
// Where that would be too many, owners of one kind and namespace share a row, and what is still too
// much is counted.

// With headings and totals about 50 lines at the most; what matters most comes within 24. One row
// more than this is shown, too: a line about the rest would take as much room.
constexpr std::size_t victim_rows_max = 6;
constexpr std::size_t placeless_rows_max = 6;
constexpr std::size_t waiting_rows_max = 3;
constexpr std::size_t placed_rows_max = 5;

/// Of asks whose outcome proves nothing: they have rows of their own.
constexpr char unproven_mark = '?';

/// By what they are: "pod", "session".
using VictimCounts = std::map<std::string_view, std::uint64_t>;

void count_victims(const PlanAsk& ask, VictimCounts& counts) {
  if (victim_count(ask) > 0) counts[row_of_ask(ask.kind).victim] += victim_count(ask);
}

/// "3 pods and 1 session"
std::string victims_text(const VictimCounts& counts) {
  std::vector<std::string> parts;
  for (const auto& [what, count] : counts) parts.push_back(counted(count, what));
  return fmt::format("{}", fmt::join(parts, " and "));
}

/// What one pod or ask adds to a row.
struct Item {
  Party party;
  std::int32_t priority = 0;
  std::string how;  ///< What else distinguishes rows.
};

/// A row: what its items have in common, and what they add up to.
struct Tally {
  std::set<Party> parties;
  std::int32_t priority_min = 0;
  std::int32_t priority_max = 0;
  std::uint64_t count = 0;
  std::string how;
  // Of some tables only:
  PlanCost cost;
  std::uint64_t victims = 0;
  VictimCounts victims_by_kind;
  std::uint64_t budgets_violated = 0;
  std::set<std::string> beneficiaries;
  std::set<std::string> nodes;
  std::set<std::tuple<std::string_view, std::string_view>> awaited;
  std::optional<Time> until;  ///< The last of them.
  std::optional<PlanRefusal> refusal;
  std::set<std::string_view> holders_stay;
  std::set<std::string_view> quarantined;  ///< The reasons.
};

/// Rows by owner, or by kind of owner where that would be too many.
class Tallies {
 public:
  explicit Tallies(std::size_t rows_max) : rows_max_(rows_max) {}

  /// `add(tally)` is called for the row that the item belongs to.
  template <class Add>
  void count(const Item& item, Add add) {
    items_.push_back({.item = item, .add = std::move(add)});
  }
  void reserve(std::size_t items) { items_.reserve(items); }
  std::uint64_t size() const { return items_.size(); }

  /// Most important first: the most victims, then the highest priority.
  std::vector<Tally> rows() const {
    std::vector<Tally> fine = rows_by([](const Item& item) {
      // Pods without an owner are not distinguished by name.
      return std::tuple(item.priority, item.party.namespace_name, item.party.kind,
                        item.party.is_pod() ? std::string{} : item.party.name, item.how);
    });
    if (fine.size() <= rows_max_ + 1) return fine;
    return rows_by([](const Item& item) {
      return std::tuple(item.party.namespace_name, item.party.kind, item.how);
    });
  }

 private:
  struct Counted {
    Item item;
    std::function<void(Tally&)> add;
  };

  template <class KeyOf>
  std::vector<Tally> rows_by(const KeyOf& key_of) const {
    std::map<decltype(key_of(Item{})), Tally> by_key;
    for (const auto& [item, add] : items_) {
      const auto [at, is_new] = by_key.try_emplace(key_of(item));
      Tally& tally = at->second;
      tally.priority_min = is_new ? item.priority : std::min(tally.priority_min, item.priority);
      tally.priority_max = is_new ? item.priority : std::max(tally.priority_max, item.priority);
      tally.how = item.how;
      tally.parties.insert(item.party);
      ++tally.count;
      add(tally);
    }
    std::vector<Tally> rows;
    rows.reserve(by_key.size());
    for (auto& [key, tally] : by_key) rows.push_back(std::move(tally));
    std::ranges::stable_sort(rows, [](const Tally& a, const Tally& b) {
      return std::tuple(b.victims, b.priority_max, b.count) <
             std::tuple(a.victims, a.priority_max, a.count);
    });
    return rows;
  }

  std::size_t rows_max_;
  std::vector<Counted> items_;
};

/// "Job sweep", "14 Jobs"
std::string owner_text(const Tally& row) {
  const Party& first = *row.parties.begin();
  if (row.parties.size() == 1) return object_text(first.kind, {}, first.name);
  return counted(row.parties.size(), first.kind);
}

/// "100", "5 to 100"
std::string priorities_text(const Tally& row) {
  if (row.priority_min == row.priority_max) return fmt::format("{}", row.priority_max);
  return fmt::format("{} to {}", row.priority_min, row.priority_max);
}

std::string nodes_text(const std::set<std::string>& nodes) {
  if (nodes.empty()) return "-";
  return nodes.size() == 1 ? *nodes.begin() : counted(nodes.size(), "node");
}

/// Columns that every table has, and the cells of a row in them.
std::vector<Column> common_columns(std::string_view counted_things) {
  return {{std::string(counted_things), Align::right},
          {"NAMESPACE"},
          {"OWNER"},
          {"PRIORITY", Align::right}};
}

std::vector<Cell> common_cells(const Tally& row, Tone tone) {
  const std::string& namespace_name = row.parties.begin()->namespace_name;
  return {{grouped(row.count), tone},
          {namespace_name.empty() ? "-" : namespace_name},
          {owner_text(row)},
          {priorities_text(row)}};
}

/// A heading, the table, and how much of it is left out.
template <class CellsOf>
std::string table_text(std::string_view heading, std::vector<Column> columns,
                       const std::vector<Tally>& rows, std::size_t rows_max,
                       std::string_view counted_thing, const Palette& palette,
                       const CellsOf& cells_of) {
  if (rows.empty()) return {};
  Table table(std::move(columns));
  const std::size_t shown = rows.size() <= rows_max + 1 ? rows.size() : rows_max;
  std::uint64_t left = 0;
  for (std::size_t at = 0; at < rows.size(); ++at) {
    if (at < shown) {
      table.row(cells_of(rows[at]));
    } else {
      left += rows[at].count;
    }
  }
  std::string text =
      fmt::format("\n{}\n{}", palette.paint(heading, Tone::strong), table.text(palette));
  if (left > 0) {
    text += fmt::format("  ... and {} of {}\n", counted(left, counted_thing),
                        counted(rows.size() - shown, "other owner"));
  }
  return text;
}

// ---- Victims ------------------------------------------------------------------------------------

/// Of replicas only those that lose something by it. The plan says what they lose together: that is
/// known of an owner where all of them are of that one.
void count_replicas(const PlanAsk& ask, const std::string& asker, Tallies& tallies) {
  std::set<Party> owners;
  std::vector<Item> items;
  each_replica_victim(ask, [&](const auto& /*claim*/, const PlanReplicaVictim& victim) {
    if (victim.action == ReplicaAction::wait) return;
    items.push_back({.party = Parties::of(victim), .priority = victim.priority, .how = {}});
    owners.insert(items.back().party);
  });
  for (std::size_t at = 0; at < items.size(); ++at) {
    const PlanCost lost = at == 0 && owners.size() == 1 ? ask.cost : PlanCost{};
    tallies.count(items[at], [&asker, lost](Tally& row) {
      row.beneficiaries.insert(asker);
      row.cost = sum(row.cost, lost);
    });
  }
}

std::string victims_text(std::span<const PlanAsk* const> asks, const Parties& parties,
                         const Palette& palette) {
  Tallies tallies(victim_rows_max);
  std::vector<std::string> askers;
  askers.reserve(asks.size());
  std::set<std::string_view> what;
  for (const PlanAsk* const ask : asks) {
    if (!needs_victims(*ask)) continue;
    what.insert(row_of_ask(ask->kind).victim);
    const std::string& asker = askers.emplace_back(party_text(parties.of(*ask)));
    count_replicas(*ask, asker, tallies);
    for (const PlanVictim& victim : ask->victims) {
      tallies.count({.party = parties.of(victim), .priority = victim.priority, .how = {}},
                    [&asker, &victim](Tally& row) {
                      row.beneficiaries.insert(asker);
                      row.cost = sum(row.cost, victim.cost);
                      if (victim.violates_budget) ++row.budgets_violated;
                    });
    }
  }
  const std::vector<Tally> rows = tallies.rows();
  const bool lost =
      std::ranges::any_of(rows, [](const Tally& row) { return row.cost.pod_seconds > 0; });
  const bool budgets =
      std::ranges::any_of(rows, [](const Tally& row) { return row.budgets_violated > 0; });
  std::string heading = what.size() == 1 ? fmt::format("{}s", *what.begin()) : "victims";
  std::ranges::transform(heading, heading.begin(),
                         [](char byte) { return static_cast<char>(std::toupper(byte)); });
  std::vector<Column> columns = common_columns(heading);
  if (lost) columns.push_back({"LOST WORK"});
  if (budgets) columns.push_back({"BUDGETS\nVIOLATED", Align::right});
  columns.push_back({"FOR"});
  return table_text(
      fmt::format("Victims: {}", grouped(tallies.size())), std::move(columns), rows,
      victim_rows_max, "victim", palette, [&](const Tally& row) {
        std::vector<Cell> cells = common_cells(row, Tone::bad);
        if (lost) cells.push_back({row.cost.pod_seconds > 0 ? cost_text(row.cost) : "-"});
        if (budgets) {
          cells.push_back({row.budgets_violated == 0 ? "-" : grouped(row.budgets_violated),
                           row.budgets_violated == 0 ? Tone::plain : Tone::bad});
        }
        cells.push_back({few_names({row.beneficiaries.begin(), row.beneficiaries.end()})});
        return cells;
      });
}

// ---- Asks ---------------------------------------------------------------------------------------

bool has_no_place(const PlanAsk& ask) {
  return ask.outcome == Outcome::infeasible || ask.outcome == Outcome::not_found;
}

/// The first refusal, where it is what the reason is about.
const PlanRefusal* decisive_refusal(const PlanAsk& ask) {
  const std::vector<PlanRefusal>& refusals = ask.explanation.refusals.items();
  if (refusals.empty() || !ask.reason.contains(refusal_text(refusals.front()))) return nullptr;
  return &refusals.front();
}

void add_refusal(const PlanRefusal& refusal, Tally& row) {
  if (!row.refusal || refusal.amount_min < row.refusal->amount_min) row.refusal = refusal;
  for (const PlanHolder& holder : refusal.holders) row.holders_stay.insert(holder.why);
}

std::string why_text(const Tally& row) {
  constexpr std::size_t length_max = 80;
  if (!row.quarantined.empty()) {
    constexpr std::size_t short_max = 60;
    const std::string_view first = *row.quarantined.begin();
    if (row.quarantined.size() == 1) return shorten(first, length_max);
    return fmt::format("{}, and {}", shorten(first, short_max),
                       counted(row.quarantined.size() - 1, "more problem"));
  }
  std::string_view how = row.how;
  if (how.ends_with(unproven_mark)) how.remove_suffix(1);
  return row.refusal ? shorten(refusal_text(*row.refusal), length_max) : shorten(how, length_max);
}

/// "not of lower priority, opted out"; the first two.
std::string stay_text(const Tally& row) {
  constexpr std::size_t length_max = 60;
  std::vector<std::string_view> reasons(row.holders_stay.begin(), row.holders_stay.end());
  if (reasons.empty()) return "-";
  const std::size_t more = reasons.size() > 2 ? reasons.size() - 2 : 0;
  reasons.resize(reasons.size() - more);
  std::string text = fmt::format("{}", fmt::join(reasons, ", "));
  if (more > 0) text += fmt::format(" and {} more", more);
  return shorten(text, length_max);
}

std::string placeless_text(std::span<const PlanAsk* const> asks, const Parties& parties,
                           const Palette& palette) {
  Tallies tallies(placeless_rows_max);
  tallies.reserve(static_cast<std::size_t>(
      std::ranges::count_if(asks, [](const PlanAsk* const ask) { return has_no_place(*ask); })));
  for (const PlanAsk* const ask : asks) {
    if (!has_no_place(*ask)) continue;
    const PlanRefusal* const refusal = decisive_refusal(*ask);
    const bool quarantined = is_quarantined(*ask);
    std::string how = quarantined ? std::string(quarantined_reason)
                      : refusal == nullptr
                          ? ask->reason
                          : fmt::format("{} {}", choice_name(refusal->reason), refusal->detail);
    if (ask->outcome == Outcome::not_found) how += unproven_mark;
    tallies.count({.party = parties.of(*ask), .priority = ask->priority, .how = std::move(how)},
                  [refusal, quarantined, ask](Tally& row) {
                    if (quarantined) {
                      row.quarantined.insert(ask->reason);
                    } else if (refusal != nullptr) {
                      add_refusal(*refusal, row);
                    }
                  });
  }
  const std::vector<Tally> rows = tallies.rows();
  const bool held =
      std::ranges::any_of(rows, [](const Tally& row) { return !row.holders_stay.empty(); });
  std::vector<Column> columns = common_columns("ASKS");
  columns.push_back({"WHY"});
  if (held) columns.push_back({"PODS IN THE WAY STAY BECAUSE"});
  return table_text(fmt::format("Asks without a place: {}", grouped(tallies.size())),
                    std::move(columns), rows, placeless_rows_max, "ask", palette,
                    [&](const Tally& row) {
                      std::vector<Cell> cells = common_cells(row, Tone::bad);
                      cells.push_back({why_text(row)});
                      if (held) cells.push_back({stay_text(row)});
                      return cells;
                    });
}

/// "12 leaving pods on 3 nodes, until 2026-01-01T12:00:00Z"
std::string awaited_text(const Tally& row) {
  std::string text;
  if (!row.awaited.empty()) {
    text =
        fmt::format("{} on {}", counted(row.awaited.size(), "leaving pod"), nodes_text(row.nodes));
  }
  if (row.until) {
    text += fmt::format("{}until {}", text.empty() ? "" : ", ", to_text(*row.until));
  }
  return text.empty() ? shorten(row.how, 80) : text;
}

std::string waiting_text(std::span<const PlanAsk* const> asks, const Parties& parties,
                         const Palette& palette) {
  Tallies tallies(waiting_rows_max);
  for (const PlanAsk* const ask : asks) {
    if (ask->outcome != Outcome::waits) continue;
    const bool is_explained = !ask->waits_for.empty() || ask->waits_until;
    tallies.count({.party = parties.of(*ask),
                   .priority = ask->priority,
                   .how = is_explained ? std::string{} : ask->reason},
                  [ask](Tally& row) {
                    for (const PodPlacement& pod : ask->waits_for) {
                      row.awaited.emplace(pod.namespace_name, pod.name);
                      row.nodes.insert(pod.node);
                    }
                    if (ask->waits_until && (!row.until || *row.until < *ask->waits_until)) {
                      row.until = ask->waits_until;
                    }
                  });
  }
  std::vector<Column> columns = common_columns("ASKS");
  columns.push_back({"WAITING FOR"});
  return table_text(fmt::format("Asks that wait: {}", grouped(tallies.size())), std::move(columns),
                    tallies.rows(), waiting_rows_max, "ask", palette, [](const Tally& row) {
                      std::vector<Cell> cells = common_cells(row, Tone::warning);
                      cells.push_back({awaited_text(row)});
                      return cells;
                    });
}

/// "preempt 3 pods"
std::string room_text(const Tally& row) {
  if (row.how == choice_name(Outcome::fits)) return row.count == 1 ? "fits" : "fit";
  return fmt::format("{} {}", row.count == 1 ? "preempts" : "preempt",
                     victims_text(row.victims_by_kind));
}

/// Where replicas go: claimed nodes, and those where they probably land. Planes may have nodes of
/// the same name.
void add_replica_nodes(const PlanReplicas& replicas, Tally& row) {
  const auto add = [&](const std::string& node, const std::string& plane) {
    row.nodes.insert(plane.empty() ? node : fmt::format("{}{}{}", node, of_plane, plane));
  };
  for (const PlanReplicaClaim& claim : replicas.claims) add(claim.node, claim.plane);
  for (const PlanScaleUp& item : replicas.scale_ups) {
    for (const PlanExpectedNode& expected : item.expected) add(expected.node, item.plane);
  }
}

std::string placed_text(std::span<const PlanAsk* const> asks, const Parties& parties,
                        const Palette& palette) {
  Tallies tallies(placed_rows_max);
  for (const PlanAsk* const ask : asks) {
    if (has_no_place(*ask) || ask->outcome == Outcome::waits) continue;
    tallies.count({.party = parties.of(*ask),
                   .priority = ask->priority,
                   .how = std::string(choice_name(ask->outcome))},
                  [ask](Tally& row) {
                    for (const PodPlacement& place : ask->placements) row.nodes.insert(place.node);
                    if (ask->replicas) add_replica_nodes(*ask->replicas, row);
                    row.victims += victim_count(*ask);
                    count_victims(*ask, row.victims_by_kind);
                  });
  }
  std::vector<Column> columns = common_columns("ASKS");
  columns.push_back({"HOW"});
  columns.push_back({"NODES"});
  return table_text(fmt::format("Asks that get room: {}", grouped(tallies.size())),
                    std::move(columns), tallies.rows(), placed_rows_max, "ask", palette,
                    [](const Tally& row) {
                      std::vector<Cell> cells = common_cells(row, Tone::good);
                      cells.push_back({room_text(row)});
                      cells.push_back({nodes_text(row.nodes)});
                      return cells;
                    });
}

/// Whether the plan is too large for its details to come first.
bool is_large(std::span<const PlanAsk* const> asks) {
  constexpr std::size_t asks_max = 8;
  constexpr std::size_t victims_max = 20;
  std::size_t victims = 0;
  for (const PlanAsk* const ask : asks) victims += victim_count(*ask);
  return asks.size() > asks_max || victims > victims_max;
}

/// The tables, each after an empty line.
std::string summary_tables(std::span<const PlanAsk* const> asks, const Parties& parties,
                           const Palette& palette) {
  return victims_text(asks, parties, palette) + placeless_text(asks, parties, palette) +
         waiting_text(asks, parties, palette) + placed_text(asks, parties, palette);
}

/// A few words for each law, as in docs/concepts.md.
std::string_view law_text(WaivedLaw law) {
  switch (law) {
    case WaivedLaw::law_1: return "no victims for an ask that fits";
    case WaivedLaw::law_2: return "victims have lower priority";
    case WaivedLaw::law_3: return "all or nothing";
    case WaivedLaw::law_4: return "no unnecessary victims";
    case WaivedLaw::law_5: return "groups leave as a whole";
    case WaivedLaw::law_6: return "room that is already being freed is used first";
    case WaivedLaw::law_7: return "no new victims while a nomination is valid";
    case WaivedLaw::law_8: return "nothing is used twice in a cycle";
    case WaivedLaw::law_9: return "every victim has a cause";
    case WaivedLaw::law_10: return "bounds are named";
    case WaivedLaw::law_4_gangs: return "no unnecessary victims, for gangs";
    case WaivedLaw::law_1_claims: return "no victims for a claim that fits, for queues";
    case WaivedLaw::law_4_claims: return "no unnecessary victims, for queues";
  }
  return {};
}

/// Asks without a place and how long each has been pending, the longest first; of equal replicas
/// the one that has waited longest.
std::string starving_text(std::span<const PlanAsk* const> shown, const Parties& parties,
                          const Palette& palette) {
  constexpr std::size_t starving_max = 5;
  std::vector<const PlanAsk*> asks;
  for (const PlanAsk* const ask : shown) {
    if (ask->placements.empty() && ask->pending_seconds.value_or(0) > 0) asks.push_back(ask);
  }
  if (asks.empty()) return {};
  // The order in which they were decided settles ties.
  std::ranges::stable_sort(asks, std::ranges::greater{},
                           [](const PlanAsk* ask) { return *ask->pending_seconds; });
  std::map<Party, std::size_t> counts;
  for (const PlanAsk* const ask : asks) ++counts[parties.of(*ask)];
  std::vector<std::string> names;
  std::size_t listed = 0;
  std::set<Party> shown_parties;
  for (const PlanAsk* const ask : asks) {
    if (names.size() == starving_max) break;
    const Party party = parties.of(*ask);
    const bool together = !party.is_pod() && counts[party] >= replicas_grouped_min;
    if (together && !shown_parties.insert(party).second) continue;
    listed += together ? counts[party] : 1;
    names.push_back(fmt::format(
        "{} ({})",
        together ? fmt::format("{} of {}", counted(counts[party], "pod"), party_text(party))
                 : ask_text(*ask),
        pending_text(*ask->pending_seconds)));
  }
  std::string line = fmt::format("Not placed, longest waiting first: {}", fmt::join(names, ", "));
  if (asks.size() > listed) line += fmt::format(" and {} more", grouped(asks.size() - listed));
  return paragraph(line + ".", 0, palette);
}

/// Of the whole plan, where no single ask says it.
std::string total_cost_text(const Plan& plan) {
  const auto costly =
      std::ranges::count_if(plan.asks, [](const PlanAsk& ask) { return ask.cost.pod_seconds > 0; });
  if (costly < 2) return {};
  return fmt::format("Lost work: {}.\n", cost_text(plan.cost));
}

std::string laws_text(const Plan& plan, const Palette& palette) {
  if (plan.laws_waived.empty()) return {};
  std::vector<std::string> laws;
  laws.reserve(plan.laws_waived.size());
  for (const WaivedLaw law : plan.laws_waived) {
    const std::string_view number = law == WaivedLaw::law_4_gangs ? "4" : choice_name(law);
    laws.push_back(fmt::format("{} ({})", number, law_text(law)));
  }
  return wrapped(fmt::format("Laws waived by the configuration: {}.", fmt::join(laws, ", ")), 0,
                 palette.text_width());
}

/// Asks that were left out of the plan because of a bug of Makeway (law 14).
std::string left_out_text(const Plan& plan, const Palette& palette) {
  std::string text;
  for (const PlanLeftOut& left : plan.left_out) {
    const std::string name =
        left.kind == AskKind::queue
            ? std::string("the queue stage")
            : object_text(choice_name(left.kind), left.namespace_name, left.name);
    const std::string rule = left.law > 0 ? fmt::format("law {}", left.law) : "check";
    text += paragraph(fmt::format("{}: {}: {}", name, rule, left.reason), 2, palette);
  }
  if (!text.empty()) {
    text = palette.paint("Left out because of a bug in Makeway:", Tone::strong) + "\n" + text;
  }
  if (!plan.withheld.empty()) {
    text +=
        paragraph(fmt::format("The plan is empty because of a bug in Makeway: {}", plan.withheld),
                  0, palette);
  }
  return text;
}

Parties parties_of(const PlanTextOptions& options) {
  return Parties(options.cluster, options.replica_sets);
}

std::vector<const PlanAsk*> pointers(const std::vector<PlanAsk>& asks) {
  std::vector<const PlanAsk*> list;
  list.reserve(asks.size());
  for (const PlanAsk& ask : asks) list.push_back(&ask);
  return list;
}

/// "1 fits, 2 preempt 3 pods"
std::string outcomes_text(std::span<const PlanAsk* const> asks) {
  std::array<std::uint64_t, choice_names<Outcome>.size()> counts{};
  VictimCounts victims;
  std::uint64_t forced = 0;
  std::uint64_t stopped = 0;
  for (const PlanAsk* const each : asks) {
    const PlanAsk& ask = *each;
    forced += force_deleted(ask);
    ++counts[static_cast<std::size_t>(ask.outcome)];
    count_victims(ask, victims);
    stopped += static_cast<std::uint64_t>(ask.stopped_pods);
  }
  std::string preempted = victims.empty() ? "0 pods" : victims_text(victims);
  const bool one_preempts = counts[static_cast<std::size_t>(Outcome::preempts)] == 1;
  if (stopped > 0) {
    preempted += fmt::format(" and {} {} more", one_preempts ? "stops" : "stop", grouped(stopped));
  }
  std::vector<std::string> parts;
  const auto part = [&](Outcome outcome, std::string_view one, std::string_view several,
                        std::string_view rest = {}) {
    const std::uint64_t count = counts[static_cast<std::size_t>(outcome)];
    if (count == 0) return;
    parts.push_back(fmt::format("{} {}{}", grouped(count), count == 1 ? one : several, rest));
  };
  part(Outcome::fits, "fits", "fit");
  part(Outcome::preempts, "preempts", "preempt", " " + preempted);
  part(Outcome::waits, "waits", "wait");
  part(Outcome::infeasible, "is infeasible", "are infeasible");
  part(Outcome::not_found, "finds no placement", "find no placement");
  const std::string end = forced == 0 ? std::string()
                                      : fmt::format("; {} {} force-deleted", counted(forced, "pod"),
                                                    forced == 1 ? "is" : "are");
  return fmt::format("{}{}", fmt::join(parts, ", "), end);
}

/// Law 10: the bound over the whole plan was reached, and the asks after it were hardly searched.
std::string cut_short_text(const Plan& plan, const Palette& palette) {
  const auto cut = std::ranges::count_if(plan.asks, [](const PlanAsk& ask) {
    return std::ranges::find(ask.bounds_reached, plan_bound) != ask.bounds_reached.end();
  });
  if (cut == 0) return {};
  return wrapped(
      fmt::format("The plan is cut short: the steps of {} are used up, and {} did not get the "
                  "whole search; raise it for a complete plan.",
                  plan_bound, counted(static_cast<std::uint64_t>(cut), "ask")),
      0, palette.text_width());
}

/// What is true of the whole plan, whichever asks are shown.
std::string totals_lines(const Plan& plan, std::span<const PlanAsk* const> shown,
                         const PlanTextOptions& options) {
  const Palette& palette = options.palette;
  std::string text = palette.paint(totals_text(plan), Tone::strong) + "\n";
  if (options.filter.any()) {
    const std::string which = filter_text(options.filter);
    text += wrapped(shown.empty() ? fmt::format("None of them is shown: {}.", which)
                                  : fmt::format("Shown: {} ({}): {}.", counted(shown.size(), "ask"),
                                                which, outcomes_text(shown)),
                    0, palette.text_width());
  }
  text += cut_short_text(plan, palette);
  text += total_cost_text(plan);
  text += starving_text(shown, parties_of(options), palette);
  return text;
}

/// What comes last, whatever is shown.
std::string closing_lines(const Plan& plan, const PlanTextOptions& options) {
  std::string text;
  if (plan.quarantine.objects > 0) {
    text += fmt::format("{} in quarantine; standard error says why.\n",
                        counted(static_cast<std::uint64_t>(plan.quarantine.objects), "object"));
  }
  if (plan.others_pending > 0) {
    const bool one = plan.others_pending == 1;
    text +=
        fmt::format("{} {} not considered.\n",
                    counted(static_cast<std::uint64_t>(plan.others_pending), "other pending pod"),
                    one ? "was" : "were");
  }
  text += laws_text(plan, options.palette);
  const std::string time = options.time_is_known ? fmt::format("time {}", to_text(plan.now))
                                                 : std::string("no time in the input");
  text += options.palette.paint(
      fmt::format("Configuration {}, {}, plan {}.", printable(plan.preset), time, plan.id),
      Tone::dim);
  return text + "\n";
}

std::string nothing_pending_text(const Plan& plan, const PlanTextOptions& options) {
  const bool no_asks = plan.left_out.empty() && plan.withheld.empty();
  const std::string groups = resource_groups_text(plan, options.palette);
  return queues_text(plan, options) + (no_asks ? "Nothing is pending.\n" : "") + groups +
         (groups.empty() ? "" : "\n") + left_out_text(plan, options.palette) +
         closing_lines(plan, options);
}

/// A few asks: each with all that is to be said, then the totals.
std::string short_text(const Plan& plan, std::span<const PlanAsk* const> shown,
                       const PlanTextOptions& options) {
  const Palette& palette = options.palette;
  std::string text = queues_text(plan, options);
  text += asks_text(plan, shown, parties_of(options), options);
  text += resource_groups_text(plan, palette) + net_schedule_text(plan, palette);
  if (!text.empty() && !text.ends_with("\n\n")) text += "\n";
  text += totals_lines(plan, shown, options) + left_out_text(plan, palette);
  return text + closing_lines(plan, options);
}

/// Many asks: the first screen has all that matters.
std::string long_text(const Plan& plan, std::span<const PlanAsk* const> shown,
                      const PlanTextOptions& options) {
  const Palette& palette = options.palette;
  const Parties parties = parties_of(options);
  std::string text = totals_lines(plan, shown, options) + left_out_text(plan, palette) +
                     summary_tables(shown, parties, palette);
  if (!options.summary_only) {
    text += "\n" + queues_text(plan, options);
    if (!shown.empty())
      text += palette.paint("Asks, in the order of the plan", Tone::strong) + "\n";
    text += asks_text(plan, shown, parties, options);
    text += resource_groups_text(plan, palette) + net_schedule_text(plan, palette);
  }
  return text + "\n" + closing_lines(plan, options);
}

}  // namespace

std::string cost_text(const PlanCost& cost) {
  if (cost.pod_seconds <= 0) return {};
  std::string text = hours_text(cost.pod_seconds) + " pod-hours";
  if (cost.gpu_seconds > 0) text += fmt::format(", {} GPU-hours", hours_text(cost.gpu_seconds));
  return text;
}

std::uint64_t force_deleted(const PlanAsk& ask) {
  std::uint64_t count = 0;
  each_replica_victim(ask, [&](const auto& /*claim*/, const PlanReplicaVictim& victim) {
    if (victim.action == ReplicaAction::force_delete) ++count;
  });
  return count;
}

std::uint64_t victim_count(const PlanAsk& ask) {
  const std::uint64_t replicas =
      ask.replicas ? static_cast<std::uint64_t>(scaled_down(*ask.replicas)) : 0;
  return replicas + ask.victims.size();
}

bool needs_victims(const PlanAsk& ask) { return victim_count(ask) > 0 || force_deleted(ask) > 0; }

std::string totals_text(const Plan& plan) {
  return fmt::format("Plan: {}: {}.", counted(plan.asks.size(), "ask"),
                     outcomes_text(pointers(plan.asks)));
}

std::string plan_text(const Plan& plan, const PlanTextOptions& options) {
  if (plan.asks.empty()) return nothing_pending_text(plan, options);
  const std::vector<const PlanAsk*> shown =
      options.filter.any()
          ? filtered(plan, options.filter, *options.cluster, *options.configuration)
          : pointers(plan.asks);
  return options.summary_only || is_large(shown) ? long_text(plan, shown, options)
                                                 : short_text(plan, shown, options);
}

}  // namespace makeway::cli
