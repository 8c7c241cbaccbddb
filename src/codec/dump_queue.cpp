// The writer of Queue.
#include "codec/dump_parts.hpp"
#include "codec/kinds.hpp"

namespace makeway {
namespace {

void amounts_if(DocumentWriter& writer, std::string_view key, const Amounts& amounts) {
  if (amounts.empty()) return;
  writer.key(key);
  write_amounts(writer, amounts);
}

}  // namespace

void write_object(DocumentWriter& writer, const Queue& queue) {
  begin_plain_object(writer, queue);
  writer.key("spec");
  writer.begin_object();
  writer.integer_field("weight", queue.weight);
  text_if(writer, "parent", queue.parent);
  if (queue.priority != 0) writer.integer_field("priority", queue.priority);
  if (!queue.reclaimable) writer.boolean_field("reclaimable", false);
  amounts_if(writer, "guarantee", queue.guarantee);
  amounts_if(writer, "limit", queue.limit);
  if (!queue.namespaces.empty()) {
    writer.key("namespaces");
    writer.begin_array();
    for (const std::string& name : queue.namespaces) writer.string(name);
    writer.end_array();
  }
  writer.end_object();
  if (!queue.allocated.empty() || !queue.preempting.empty() || !queue.deserved.empty() ||
      !queue.used.empty()) {
    writer.key("status");
    writer.begin_object();
    amounts_if(writer, "allocated", queue.allocated);
    amounts_if(writer, "preempting", queue.preempting);
    amounts_if(writer, "deserved", queue.deserved);
    amounts_if(writer, "used", queue.used);
    writer.end_object();
  }
  writer.end_object();
}

}  // namespace makeway
