#include "server/board.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <tuple>

#include "base/checked_math.hpp"
#include "model/unit_ask.hpp"

namespace makeway::server {
namespace {

constexpr std::size_t preemptions_kept = 100;
constexpr std::size_t victims_kept = 20;
constexpr std::size_t decisions_kept = 1'000;
constexpr std::size_t samples_kept = 600;
constexpr std::size_t bulk_from = 1'000;
constexpr Duration sample_every{1'000};

std::string place_text(const std::vector<PodPlacement>& placements) {
  if (placements.empty()) return {};
  if (placements.size() == 1) return placements.front().node;
  return fmt::format("{} and {} more", placements.front().node, placements.size() - 1);
}

template <class Victim>
std::string victim_text(const Victim& victim) {
  std::string text = fmt::format("{}/{}", victim.namespace_name, victim.name);
  if (!victim.plane.empty()) text += fmt::format(" of plane {}", victim.plane);
  return text;
}

template <class Victim>
void add_victim(SeenPreemption& seen, const Victim& victim, const std::string& node) {
  if (++seen.victims_count == 1) {
    seen.alternative = victim.cause_alternative;
    seen.key = victim.cause_key;
  }
  if (seen.victims.size() == victims_kept) return;
  seen.victims.push_back({.pod = victim_text(victim),
                          .node = node,
                          .priority = victim.priority,
                          .reason = victim.reason});
}

/// Without victims: it is none.
SeenPreemption seen_preemption(const PlanAsk& ask, Time now) {
  SeenPreemption seen{.ask = ask_text(ask),
                      .priority = ask.priority,
                      .node = place_text(ask.placements),
                      .victims = {},
                      .when = now};
  for (const PlanVictim& victim : ask.victims) add_victim(seen, victim, victim.node);
  if (!ask.replicas) return seen;
  for (const PlanReplicaClaim& claim : ask.replicas->claims) {
    if (claim.kept) continue;  // Told when it was made.
    for (const PlanReplicaVictim& victim : claim.victims) add_victim(seen, victim, claim.node);
    if (seen.node.empty()) seen.node = claim.node;
  }
  return seen;
}

void note_pending(std::map<AskName, WaitingAsk>& asks, const AskName& name, std::int32_t priority,
                  std::optional<Time> since) {
  WaitingAsk& ask = asks[name];
  ask.name = name;
  ask.priority = priority;
  ++ask.pods;
  if (since && (!ask.since || *since < *ask.since)) ask.since = since;
}

/// Never overflows: of very large amounts the last digits do not count.
std::int64_t permille_of(std::int64_t used, std::int64_t room) {
  constexpr std::int64_t thousand = 1'000;
  if (room <= 0) return 0;
  const bool is_small = used < std::numeric_limits<std::int64_t>::max() / thousand;
  return is_small ? used * thousand / room : used / std::max<std::int64_t>(1, room / thousand);
}

}  // namespace

SeenCycle seen_cycle(const MadeCycle& cycle) {
  SeenCycle seen{.now = cycle.now,
                 .answers = {},
                 .preemptions = {},
                 .queues = {},
                 .decide_us = cycle.made.decide_us,
                 .check_us = cycle.made.check_us,
                 .refused = std::ssize(cycle.made.refused)};
  if (!cycle.made.plan) return seen;
  const Plan& plan = *cycle.made.plan;
  seen.answers.reserve(plan.asks.size());
  for (const PlanAsk& ask : plan.asks) {
    seen.answers.push_back({.ask = ask_name_of(ask), .outcome = ask.outcome, .reason = ask.reason});
    if (ask.victims.empty() && !ask.replicas) continue;
    SeenPreemption preemption = seen_preemption(ask, cycle.now);
    if (preemption.victims_count == 0) continue;
    seen.victims += static_cast<std::int64_t>(preemption.victims_count);
    seen.preemptions.push_back(std::move(preemption));
  }
  seen.binds = std::ranges::count(plan.actions, ActionType::bind, &PlanAction::type);
  seen.queues = plan.queues;
  return seen;
}

// ---- Taking ---------------------------------------------------------------------------------

void Board::take(Seen seen) {
  is_dirty_ = true;
  std::visit([&](auto& each) { take_one(std::move(each)); }, seen);
}

void Board::take_one(SeenStart seen) {
  configuration_ = std::move(seen.configuration);
  preset_ = std::move(seen.preset);
  carries_out_ = seen.carries_out;
  cluster_ = Cluster();
  has_begun_ = false;
  is_behind_ = false;
  answers_.clear();
  queues_.clear();
}

void Board::take_one(SeenBase seen) {
  cluster_ = std::move(seen.cluster);
  now_ = seen.now;
  has_begun_ = true;
  is_behind_ = false;
}

void Board::take_one(const SeenBatch& seen) {
  // One by one, many changes would cost more than what is derived from all of them at once.
  const bool is_bulk = seen.changes.size() > std::max<std::size_t>(bulk_from, cluster_.pod_count());
  if (is_bulk) cluster_.begin_bulk();
  for (const Change& change : seen.changes) cluster_.apply(change);
  if (is_bulk) cluster_.finish_bulk();
  if (cluster_.own<Queue>().empty()) queues_.clear();
  now_ = seen.now;
  has_begun_ = true;
}

void Board::take_one(SeenCycle seen) {
  now_ = seen.now;
  ++cycles_;
  for (SeenAnswer& answer : seen.answers) answers_.insert_or_assign(answer.ask, answer);
  for (SeenPreemption& preemption : seen.preemptions) {
    preemption.id = ++preemption_count_;
    preemption.cycle = cycles_;
    preemptions_.push_front(std::move(preemption));
  }
  if (preemptions_.size() > preemptions_kept) preemptions_.resize(preemptions_kept);
  if (!seen.queues.empty()) queues_ = std::move(seen.queues);
  bind_count_ += static_cast<std::uint64_t>(seen.binds);
  victim_count_ += static_cast<std::uint64_t>(seen.victims);
  refused_count_ += static_cast<std::uint64_t>(seen.refused);
  decide_us_.push_front(seen.decide_us + seen.check_us);
  if (decide_us_.size() > decisions_kept) decide_us_.pop_back();
}

void Board::lose_sight() {
  cluster_ = Cluster();
  has_begun_ = false;
  is_behind_ = true;
  is_dirty_ = true;
}

const SeenAnswer* Board::answer_of(const AskName& ask) const {
  const auto found = answers_.find(ask);
  return found == answers_.end() ? nullptr : &found->second;
}

// ---- Looking --------------------------------------------------------------------------------

bool Board::is_ours(PodIndex pod) const {
  return schedulers_.empty() ||
         std::ranges::find(schedulers_, cluster_.text(cluster_.pods().scheduler[pod])) !=
             schedulers_.end();
}

void Board::look_at_waiting() {
  std::map<AskName, WaitingAsk> asks;
  for (const PodIndex pod : cluster_.pending_pods()) {
    if (!is_ours(pod)) continue;
    const Time created = cluster_.pods().created[pod];
    const UnitIndex unit = cluster_.pods().unit[pod];
    note_pending(asks, ask_name_of(cluster_, unit), cluster_.units()[unit].scheduling_priority,
                 created == no_time ? std::nullopt : std::optional(created));
  }
  for (const auto& [key, session] : cluster_.own<Session>()) {
    if (session.status.phase != SessionPhase::pending) continue;
    note_pending(
        asks,
        {.kind = AskKind::session, .namespace_name = session.namespace_name, .name = session.name},
        session.priority.value_or(
            static_cast<std::int32_t>(configuration_.session.default_priority)),
        session.created);
  }
  for (const auto& [key, schedule] : cluster_.own<ReplicaSchedule>()) {
    const AskName name{.kind = AskKind::replica_schedule,
                       .namespace_name = schedule.namespace_name,
                       .name = schedule.name};
    const SeenAnswer* const answer = answer_of(name);
    if (answer == nullptr || answer->outcome == Outcome::fits) continue;
    note_pending(asks, name, 0, std::nullopt);
  }
  // Who is no longer pending waits for nothing.
  std::erase_if(answers_, [&](const auto& each) { return !asks.contains(each.first); });
  waiting_.clear();
  for (auto& [name, ask] : asks) waiting_.push_back(std::move(ask));
  std::ranges::sort(waiting_, {}, [](const WaitingAsk& ask) {
    constexpr Time unknown{std::numeric_limits<std::int64_t>::max()};
    return std::tuple(-std::int64_t{ask.priority}, ask.since.value_or(unknown).ms, ask.name);
  });
}

void Board::add_sample() {
  if (!has_begun_ || (!samples_.empty() && now_ - samples_.back().when < sample_every)) return;
  BoardSample sample{.when = now_,
                     .waiting = std::ssize(waiting_),
                     .preemptions = preemption_count_,
                     .used_permille = {}};
  std::vector<std::int64_t> times(decide_us_.begin(), decide_us_.end());
  std::ranges::sort(times);
  if (!times.empty()) {
    sample.decide_p50_us = times[times.size() / 2];
    sample.decide_p99_us = times[times.size() * 99 / 100];
  }
  const std::size_t width = 2 + seen_.bands.size();
  for (std::size_t resource = 0; resource < seen_.resources.size(); ++resource) {
    std::int64_t room = 0;
    std::int64_t used = 0;
    for (const BoardNode& node : seen_.nodes) {
      const std::size_t at = 3 + resource * width;
      room = saturated_add(room, node.numbers[at]);
      for (std::size_t part = 1; part < width; ++part) {
        used = saturated_add(used, node.numbers[at + part]);
      }
    }
    sample.used_permille.push_back(permille_of(used, room));
  }
  samples_.push_back(std::move(sample));
  if (samples_.size() > samples_kept) samples_.pop_front();
}

void Board::look() {
  if (!std::exchange(is_dirty_, false)) return;
  // Names of pods that are gone are kept until then.
  constexpr std::size_t worth_it = 100'000;
  if (cluster_.interned_count() > 2 * interned_before_ + worth_it) {
    cluster_ = cluster_.compacted();
    interned_before_ = cluster_.interned_count();
  }
  look_at_waiting();
  seen_ = board_nodes(cluster_, priorities_);
  add_sample();
}

// ---- Telling --------------------------------------------------------------------------------

std::map<std::string, std::string> Board::sections() const {
  return {{"run", run_section()},           {"counters", counters_section()},
          {"asks", asks_section()},         {"queues", queues_section()},
          {"sessions", sessions_section()}, {"planes", planes_section()}};
}

std::string Board::state() {
  look();
  std::string text = fmt::format("{{\"frame\":{},", frame_);
  for (const auto& [name, section] : sections()) text += fmt::format("\"{}\":{},", name, section);
  text += fmt::format("\"feed\":{},\"series\":{},", feed_section(0), series_section({}));
  std::string nodes;
  JsonWriter writer(nodes, JsonStyle::compact);
  writer.begin_object();
  write_board_nodes(writer, seen_);
  writer.end_object();
  // Its braces: the fields go into ours.
  text += nodes.substr(1, nodes.find_last_of('}') - 1);
  return text + "}";
}

std::string Board::changed_nodes() {
  BoardNodes changed{.resources = seen_.resources, .bands = seen_.bands, .nodes = {}};
  std::vector<std::string> gone;
  const bool reads_alike = told_.resources == seen_.resources && told_.bands == seen_.bands;
  auto before = told_.nodes.begin();
  const auto key = [](const BoardNode& node) { return std::tie(node.plane, node.name); };
  const auto leave_behind = [&] {
    gone.push_back(before->plane + "/" + before->name);
    ++before;
  };
  for (const BoardNode& node : seen_.nodes) {
    while (before != told_.nodes.end() && key(*before) < key(node)) leave_behind();
    const bool was_there = before != told_.nodes.end() && key(*before) == key(node);
    if (!was_there || !reads_alike || before->numbers != node.numbers) {
      changed.nodes.push_back(node);
    }
    if (was_there) ++before;
  }
  while (before != told_.nodes.end()) leave_behind();
  told_ = seen_;
  if (changed.nodes.empty() && gone.empty() && reads_alike) return {};
  std::string text;
  JsonWriter writer(text, JsonStyle::compact);
  writer.begin_object();
  write_board_nodes(writer, changed);
  writer.strings_field("gone", gone);
  writer.end_object();
  return text.substr(1, text.find_last_of('}') - 1) + ",";
}

std::string Board::changes() {
  look();
  std::string text;
  std::map<std::string, std::string> now = sections();
  for (const auto& [name, section] : now) {
    const auto told = told_sections_.find(name);
    if (told != told_sections_.end() && told->second == section) continue;
    text += fmt::format("\"{}\":{},", name, section);
  }
  told_sections_ = std::move(now);
  if (preemption_count_ > told_preemptions_) {
    text += fmt::format("\"feed\":{},", feed_section(told_preemptions_));
    told_preemptions_ = preemption_count_;
  }
  if (!samples_.empty() && samples_.back().when > told_sample_) {
    text += fmt::format("\"series\":{},", series_section(told_sample_));
    told_sample_ = samples_.back().when;
  }
  text += changed_nodes();
  if (text.empty()) return {};
  return fmt::format("{{{}\"frame\":{}}}", text, ++frame_);
}

}  // namespace makeway::server
