#include "server/board.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <tuple>

#include "base/checked_math.hpp"

namespace makeway::server {
namespace {

constexpr std::size_t preemptions_kept = 100;
constexpr std::size_t victims_kept = 20;
constexpr std::size_t decisions_kept = 1'000;
constexpr std::size_t samples_kept = 600;
constexpr std::size_t bulk_from = 1'000;
constexpr Duration sample_every{1'000};

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
                 .decide_us = cycle.made.decide_us,
                 .check_us = cycle.made.check_us,
                 .refused = std::ssize(cycle.made.refused)};
  if (!cycle.made.plan) return seen;
  const Plan& plan = *cycle.made.plan;
  seen.answers.reserve(plan.asks.size());
  for (const PlanAsk& ask : plan.asks) {
    seen.answers.push_back({.ask = ask_name_of(ask), .outcome = ask.outcome, .reason = ask.reason});
  }
  seen.preemptions = preemption_report(plan, cycle.now, victims_kept);
  for (const ReportedPreemption& preemption : seen.preemptions) {
    seen.victims += static_cast<std::int64_t>(preemption.victims_count);
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
  waiting_.forget_answers();
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
  for (SeenAnswer& answer : seen.answers) {
    waiting_.note(answer.ask, {.outcome = answer.outcome, .reason = std::move(answer.reason)});
  }
  for (ReportedPreemption& preemption : seen.preemptions) {
    preemptions_.push_front({std::move(preemption), ++preemption_count_, cycles_});
  }
  if (preemptions_.size() > preemptions_kept) preemptions_.resize(preemptions_kept);
  if (!seen.queues.empty()) queues_ = std::move(seen.queues);
  bind_count_ += static_cast<std::uint64_t>(seen.binds);
  victim_count_ += static_cast<std::uint64_t>(seen.victims);
  refused_count_ += static_cast<std::uint64_t>(seen.refused);
  decide_us_.push_front(seen.decide_us + seen.check_us);
  if (decide_us_.size() > decisions_kept) decide_us_.pop_back();
}

void Board::invalidate() {
  cluster_ = Cluster();
  has_begun_ = false;
  is_behind_ = true;
  is_dirty_ = true;
}

// ---- Looking --------------------------------------------------------------------------------

void Board::add_sample() {
  if (!has_begun_ || (!samples_.empty() && now_ - samples_.back().when < sample_every)) return;
  BoardSample sample{
      .when = now_, .waiting = std::ssize(waiting_.all()), .preemptions = preemption_count_};
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
  waiting_.look(cluster_, configuration_, schedulers_);
  seen_ = board_nodes(cluster_, configuration_.session, priorities_);
  add_sample();
}

// ---- Writing --------------------------------------------------------------------------------

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
  BoardNodes changed{.resources = seen_.resources, .bands = seen_.bands};
  std::vector<std::string> gone;
  const bool reads_alike = sent_.resources == seen_.resources && sent_.bands == seen_.bands;
  auto before = sent_.nodes.begin();
  const auto key = [](const BoardNode& node) { return std::tie(node.plane, node.name); };
  const auto leave_behind = [&] {
    gone.push_back(before->plane + "/" + before->name);
    ++before;
  };
  for (const BoardNode& node : seen_.nodes) {
    while (before != sent_.nodes.end() && key(*before) < key(node)) leave_behind();
    const bool was_there = before != sent_.nodes.end() && key(*before) == key(node);
    if (!was_there || !reads_alike || before->numbers != node.numbers) {
      changed.nodes.push_back(node);
    }
    if (was_there) ++before;
  }
  while (before != sent_.nodes.end()) leave_behind();
  sent_ = seen_;
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
    const auto sent = sent_sections_.find(name);
    if (sent != sent_sections_.end() && sent->second == section) continue;
    text += fmt::format("\"{}\":{},", name, section);
  }
  sent_sections_ = std::move(now);
  if (preemption_count_ > sent_preemptions_) {
    text += fmt::format("\"feed\":{},", feed_section(sent_preemptions_));
    sent_preemptions_ = preemption_count_;
  }
  if (!samples_.empty() && samples_.back().when > sent_sample_) {
    text += fmt::format("\"series\":{},", series_section(sent_sample_));
    sent_sample_ = samples_.back().when;
  }
  text += changed_nodes();
  if (text.empty()) return {};
  return fmt::format("{{{}\"frame\":{}}}", text, ++frame_);
}

}  // namespace makeway::server
