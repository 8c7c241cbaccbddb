#include "codec/plan_queue_codec.hpp"

namespace makeway {
namespace {

void write_share(DocumentWriter& writer, const PlanQueueShare& share) {
  writer.begin_object();
  writer.string_field("resource", share.resource);
  writer.integer_field("deserved", share.deserved);
  writer.integer_field("allocatedBefore", share.allocated_before);
  writer.integer_field("allocated", share.allocated);
  writer.integer_field("used", share.used);
  writer.integer_field("leaving", share.leaving);
  writer.integer_field("demand", share.demand);
  writer.integer_field("preempting", share.preempting);
  writer.end_object();
}

void write_queue(DocumentWriter& writer, const PlanQueue& queue) {
  writer.begin_object();
  writer.string_field("name", queue.name);
  writer.string_field("parent", queue.parent);
  writer.integer_field("weight", queue.weight);
  writer.boolean_field("leaf", queue.leaf);
  if (queue.adopts > 0) {
    writer.integer_field("adopts", queue.adopts);
    writer.integer_field("adoptedLeave", queue.adopted_leave);
  }
  writer.key("shares");
  writer.begin_array();
  for (const PlanQueueShare& share : queue.shares) write_share(writer, share);
  writer.end_array();
  writer.end_object();
}

/// Room that no queue holds has no name.
void write_move(DocumentWriter& writer, const PlanQueueMove& move) {
  writer.begin_object();
  writer.string_field("resource", move.resource);
  writer.string_field("from", move.from);
  writer.string_field("to", move.to);
  writer.integer_field("amount", move.amount);
  writer.boolean_field("atOnce", move.at_once);
  writer.end_object();
}

void write_queue_quotas(DocumentWriter& writer, std::string_view key, const Quotas& quotas) {
  writer.key(key);
  writer.begin_object();
  for (const Amount& item : quotas) {
    writer.string_field(item.resource, exact_amount(item.resource, item.amount));
  }
  writer.end_object();
}

void write_queue_status(DocumentWriter& writer, const PlanQueueStatus& status) {
  writer.begin_object();
  writer.string_field("name", status.name);
  writer.string_field("uid", status.uid);
  writer.key("status");
  writer.begin_object();
  write_queue_quotas(writer, "deserved", status.deserved);
  write_queue_quotas(writer, "allocated", status.allocated);
  write_queue_quotas(writer, "used", status.used);
  write_queue_quotas(writer, "preempting", status.preempting);
  writer.end_object();
  writer.end_object();
}

}  // namespace

void write_queues(DocumentWriter& writer, const Plan& plan) {
  if (plan.queues.empty()) return;
  writer.key("queues");
  writer.begin_array();
  for (const PlanQueue& queue : plan.queues) write_queue(writer, queue);
  writer.end_array();
  writer.key("queueMoves");
  writer.begin_array();
  for (const PlanQueueMove& move : plan.queue_moves) write_move(writer, move);
  writer.end_array();
  writer.key("queueStatus");
  writer.begin_array();
  for (const PlanQueueStatus& status : plan.queue_status) write_queue_status(writer, status);
  writer.end_array();
}

}  // namespace makeway
