#include "cli/plan/plan_summary.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <vector>

#include "cli/plan/plan_text.hpp"
#include "cli/table.hpp"
#include "cli/text.hpp"
#include "model/object_text.hpp"

namespace makeway::cli {
namespace {

// With headings and totals about 50 lines at the most; what matters most comes within 24. One row
// more than this is shown, too: a line about the rest would take as much room.
constexpr std::size_t victim_rows_max = 6;
constexpr std::size_t placeless_rows_max = 6;
constexpr std::size_t waiting_rows_max = 3;
constexpr std::size_t placed_rows_max = 5;

/// Of asks whose outcome proves nothing: they have rows of their own.
constexpr char unproven_mark = '?';

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
  std::uint64_t sessions = 0;
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
      return std::tuple(b.victims + b.sessions, b.priority_max, b.count) <
             std::tuple(a.victims + a.sessions, a.priority_max, a.count);
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
  for (const PlanReplicaClaim& claim : ask.replicas->claims) {
    for (const PlanReplicaVictim& victim : claim.victims) {
      if (victim.action == ReplicaAction::wait) continue;
      items.push_back({.party = Parties::of(victim), .priority = victim.priority, .how = {}});
      owners.insert(items.back().party);
    }
  }
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
  std::uint64_t sessions = 0;
  for (const PlanAsk* const ask : asks) {
    if (!needs_victims(*ask)) continue;
    if (ask->session) sessions += ask->victims.size();
    const std::string& asker = askers.emplace_back(party_text(parties.of(*ask)));
    if (ask->replicas) count_replicas(*ask, asker, tallies);
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
  std::vector<Column> columns = common_columns(sessions == 0                ? "PODS"
                                               : sessions == tallies.size() ? "SESSIONS"
                                                                            : "VICTIMS");
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
  std::vector<std::string> parts;
  if (row.victims > 0) parts.push_back(counted(row.victims, "pod"));
  if (row.sessions > 0) parts.push_back(counted(row.sessions, "session"));
  return fmt::format("{} {}", row.count == 1 ? "preempts" : "preempt", fmt::join(parts, " and "));
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
                    (ask->session ? row.sessions : row.victims) += victim_count(*ask);
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

}  // namespace

bool is_large(std::span<const PlanAsk* const> asks) {
  constexpr std::size_t asks_max = 8;
  constexpr std::size_t victims_max = 20;
  std::size_t victims = 0;
  for (const PlanAsk* const ask : asks) victims += victim_count(*ask);
  return asks.size() > asks_max || victims > victims_max;
}

std::string summary_tables(std::span<const PlanAsk* const> asks, const Parties& parties,
                           const Palette& palette) {
  return victims_text(asks, parties, palette) + placeless_text(asks, parties, palette) +
         waiting_text(asks, parties, palette) + placed_text(asks, parties, palette);
}

}  // namespace makeway::cli
