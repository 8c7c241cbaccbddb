// The sections of a board's state, each as JSON in one line.
#include <algorithm>
#include <span>

#include "base/checked_math.hpp"
#include "model/session_names.hpp"
#include "server/board.hpp"

namespace makeway::server {
namespace {

constexpr std::size_t rows_max = 100;

/// The document of `write` without the line end.
template <class Write>
std::string json_of(const Write& write) {
  std::string text;
  JsonWriter writer(text, JsonStyle::compact);
  write(writer);
  while (text.ends_with('\n')) text.pop_back();
  return text;
}

/// An object with the fields that `write` writes.
template <class Write>
std::string object_of(const Write& write) {
  return json_of([&](DocumentWriter& writer) {
    writer.begin_object();
    write(writer);
    writer.end_object();
  });
}

/// The number of all items, and an object for each of the first.
template <class Items, class WriteRow>
std::string table_of(const Items& items, const WriteRow& write_row) {
  return object_of([&](DocumentWriter& writer) {
    writer.integer_field("count", std::ssize(items));
    write_list(writer, "rows", std::span(items).first(std::min(rows_max, items.size())), write_row);
  });
}

void write_time(DocumentWriter& writer, std::string_view name, std::optional<Time> time) {
  if (time) writer.integer_field(name, time->ms);
}

void write_preemption(DocumentWriter& writer, const SeenPreemption& seen) {
  writer.begin_object();
  writer.integer_field("id", static_cast<std::int64_t>(seen.id));
  writer.integer_field("when", seen.when.ms);
  writer.integer_field("cycle", static_cast<std::int64_t>(seen.cycle));
  writer.string_field("ask", seen.ask);
  writer.integer_field("priority", seen.priority);
  writer.string_field("node", seen.node);
  writer.string_field("alternative", seen.alternative);
  writer.string_field("key", seen.key);
  writer.integer_field("count", static_cast<std::int64_t>(seen.victims_count));
  write_list(writer, "victims", seen.victims, [&](const ReportedVictim& victim) {
    writer.string_field("who", victim.name);
    writer.string_field("node", victim.node);
    writer.integer_field("priority", victim.priority);
    writer.string_field("reason", victim.reason);
  });
  writer.end_object();
}

void write_queue(DocumentWriter& writer, const PlanQueue& queue) {
  writer.string_field("name", queue.name);
  writer.string_field("parent", queue.parent);
  writer.integer_field("weight", queue.weight);
  write_list(writer, "shares", queue.shares, [&](const PlanQueueShare& share) {
    writer.string_field("resource", share.resource);
    writer.integer_field("deserved", share.deserved);
    writer.integer_field("allocated", share.allocated);
    writer.integer_field("used", share.used);
    writer.integer_field("demand", share.demand);
    writer.integer_field("preempting", share.preempting);
  });
}

void write_session(DocumentWriter& writer, const Session& session, const SessionSettings& rules) {
  writer.string_field("namespace", session.namespace_name);
  writer.string_field("name", session.name);
  writer.string_field("group", session.resource_group);
  writer.string_field("partition", session.partition);
  writer.integer_field(
      "priority", session.priority.value_or(static_cast<std::int32_t>(rules.default_priority)));
  writer.string_field("phase", choice_name(session.status.phase));
  writer.integer_field("kernels", std::ssize(session.kernels));
  writer.integer_field("preemptions", session.status.preemptions);
  writer.string_field("preemptedBy", session.status.preempted_by);
  write_time(writer, "created", session.created);
  write_time(writer, "endsAt", session.status.ends_at);
}

}  // namespace

std::string Board::run_section() const {
  return object_of([&](DocumentWriter& writer) {
    writer.integer_field("now", now_.ms);
    writer.string_field("preset", preset_);
    writer.boolean_field("carriesOut", carries_out_);
    writer.boolean_field("begun", has_begun_);
    writer.boolean_field("behind", is_behind_);
  });
}

std::string Board::counters_section() const {
  std::int64_t waiting_pods = 0;
  for (const WaitingAsk& ask : waiting_.all()) {
    waiting_pods = saturated_add(waiting_pods, ask.pods);
  }
  return object_of([&](DocumentWriter& writer) {
    writer.integer_field("nodes", std::ssize(seen_.nodes));
    writer.integer_field("pods", static_cast<std::int64_t>(cluster_.pod_count()));
    writer.integer_field("waiting", waiting_pods);
    writer.integer_field("leaving", seen_.leaving);
    writer.integer_field("cycles", static_cast<std::int64_t>(cycles_));
    writer.integer_field("preemptions", static_cast<std::int64_t>(preemption_count_));
    writer.integer_field("victims", static_cast<std::int64_t>(victim_count_));
    writer.integer_field("binds", static_cast<std::int64_t>(bind_count_));
    writer.integer_field("refused", static_cast<std::int64_t>(refused_count_));
    writer.integer_field("p50", samples_.empty() ? 0 : samples_.back().decide_p50_us);
    writer.integer_field("p99", samples_.empty() ? 0 : samples_.back().decide_p99_us);
  });
}

std::string Board::asks_section() const {
  return table_of(waiting_.all(), [&](DocumentWriter& writer, const WaitingAsk& ask) {
    const AskAnswer* const answer = answer_of(ask.name);
    writer.string_field("kind", choice_name(ask.name.kind));
    writer.string_field("namespace", ask.name.namespace_name);
    writer.string_field("name", ask.name.name);
    writer.integer_field("priority", ask.priority);
    writer.integer_field("pods", ask.pods);
    write_time(writer, "since", ask.since);
    writer.string_field("outcome",
                        answer == nullptr ? std::string_view() : choice_name(answer->outcome));
    writer.string_field("reason", answer == nullptr ? ask.remark : answer->reason);
  });
}

std::string Board::feed_section(std::uint64_t after) const {
  return json_of([&](DocumentWriter& writer) {
    writer.begin_array();
    for (const SeenPreemption& seen : preemptions_) {
      if (seen.id > after) write_preemption(writer, seen);
    }
    writer.end_array();
  });
}

std::string Board::queues_section() const { return table_of(queues_, write_queue); }

/// Those that do not run come first: they are what users look for.
std::string Board::sessions_section() const {
  std::vector<const Session*> shown;
  for (const auto& [key, session] : cluster_.own<Session>()) {
    if (session.status.phase != SessionPhase::ended) shown.push_back(&session);
  }
  std::ranges::stable_partition(shown, [](const Session* session) {
    return session->status.phase != SessionPhase::running || session->status.ends_at;
  });
  return table_of(shown, [&](DocumentWriter& writer, const Session* session) {
    write_session(writer, *session, configuration_.session);
  });
}

/// Only where there is more than home.
std::string Board::planes_section() const {
  struct Plane {
    std::int64_t nodes = 0;
    std::int64_t pods = 0;
    std::vector<std::int64_t> room;
    std::vector<std::int64_t> used;
  };
  std::map<std::string, Plane> planes;
  const std::size_t width = 2 + seen_.bands.size();
  for (const BoardNode& node : seen_.nodes) {
    Plane& plane = planes[node.shown_plane];
    plane.room.resize(seen_.resources.size());
    plane.used.resize(seen_.resources.size());
    ++plane.nodes;
    plane.pods += node.numbers[1];
    for (std::size_t resource = 0; resource < seen_.resources.size(); ++resource) {
      const std::size_t at = 3 + resource * width;
      plane.room[resource] = saturated_add(plane.room[resource], node.numbers[at]);
      for (std::size_t part = 1; part < width; ++part) {
        plane.used[resource] = saturated_add(plane.used[resource], node.numbers[at + part]);
      }
    }
  }
  return json_of([&](DocumentWriter& writer) {
    writer.begin_array();
    for (const auto& [name, plane] : planes) {
      if (planes.size() == 1 && name.empty()) break;
      writer.begin_object();
      writer.string_field("name", name);
      writer.integer_field("nodes", plane.nodes);
      writer.integer_field("pods", plane.pods);
      write_list(writer, "room", plane.room);
      write_list(writer, "used", plane.used);
      writer.end_object();
    }
    writer.end_array();
  });
}

std::string Board::series_section(Time after) const {
  return json_of([&](DocumentWriter& writer) {
    writer.begin_array();
    for (const BoardSample& sample : samples_) {
      if (sample.when <= after) continue;
      writer.begin_array();
      writer.integer(sample.when.ms);
      writer.integer(sample.waiting);
      writer.integer(static_cast<std::int64_t>(sample.preemptions));
      writer.integer(sample.decide_p50_us);
      writer.integer(sample.decide_p99_us);
      for (const std::int64_t used : sample.used_permille) writer.integer(used);
      writer.end_array();
    }
    writer.end_array();
  });
}

}  // namespace makeway::server
