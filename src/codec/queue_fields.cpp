// Queue: its fields, read and written.
#include "codec/field_rows.hpp"
#include "codec/kinds.hpp"

namespace makeway {
namespace {

using QueueRow = FieldRow<Queue>;

/// Zeros are kept: the queue may have nothing of that resource.
template <Quotas Queue::* Member>
void read_quotas(const FieldValue& value, Queue& queue) {
  decode_quotas(value, queue.*Member);
}

constexpr std::array queue_spec = {
    QueueRow::of<&Queue::weight>(
        "weight",
        "Its part of what its parent, or the cluster, divides: in proportion to the weights of its "
        "siblings.",
        {.lowest = 1, .highest = 1'000'000, .noun = "a weight", .fallback = "1"})
        .always_written(),
    QueueRow::of<&Queue::parent>(
        "parent", "The queue whose share it divides with its siblings; none: the cluster.",
        {.type = FieldType::name}),
    QueueRow::of<&Queue::priority>("priority", "Queues of a higher priority receive first.",
                                   {.fallback = "0"}),
    QueueRow::of<&Queue::reclaimable>(
        "reclaimable", "False: it gives only room that it does not use.", {.fallback = "true"}),
    QueueRow::of<&Queue::guarantee>("guarantee", "The least that it deserves."),
    QueueRow::of<&Queue::limit>(
        "limit", "The most that it deserves; a resource that is not listed has no limit.")
        .read_by(read_quotas<&Queue::limit>),
    QueueRow::of<&Queue::namespaces>(
        "namespaces", "Pods of these namespaces belong to it unless a label says otherwise.")
        .read_by([](const FieldValue& value, Queue& queue) {
          value.read_names(queue.namespaces);
          std::ranges::sort(queue.namespaces);
        }),
};

constexpr std::array queue_status = {
    QueueRow::of<&Queue::allocated>(
        "allocated", "What may run in it; a resource that is not listed counts as used.")
        .read_by(read_quotas<&Queue::allocated>),
    QueueRow::of<&Queue::preempting>(
        "preempting", "Promised: becomes allocated when the pods that hold it are gone."),
    QueueRow::of<&Queue::deserved>("deserved", "Its share in the last cycle.")
        .read_by(read_quotas<&Queue::deserved>),
    QueueRow::of<&Queue::used>("used", "What its bound pods requested in the last cycle.")
        .read_by(read_quotas<&Queue::used>),
    QueueRow{conditions_field, nullptr, list_conditions},
};

constexpr FieldTable<Queue> queue_fields = {.spec = queue_spec, .status = queue_status};

constexpr std::array queue_columns = {
    PrinterColumn{"Weight", "integer", ".spec.weight"},
    PrinterColumn{"Deserved", "string", ".status.deserved"},
    PrinterColumn{"Allocated", "string", ".status.allocated"},
    PrinterColumn{"Used", "string", ".status.used"},
    PrinterColumn{"Preempting", "string", ".status.preempting"},
    PrinterColumn{"Parent", "string", ".spec.parent", true},
    PrinterColumn{"Priority", "integer", ".spec.priority", true},
};
constexpr std::array queue_rules = {
    CelRule{"",
            "!has(self.spec) || !has(self.spec.parent) || self.spec.parent != self.metadata.name",
            "the queue is its own ancestor: leave spec.parent out in the queue at the top"},
    CelRule{"spec", "!has(self.parent) || self.parent != 'default'",
            "pods that name no queue belong to default, so it has no children: give the children a "
            "parent of their own"},
    CelRule{"spec",
            "!has(self.guarantee) || !has(self.limit) || self.guarantee.all(r, !(r in self.limit) "
            "|| quantity(string(self.guarantee[r])).compareTo(quantity(string(self.limit[r]))) <= "
            "0)",
            "a limit is below the guarantee: raise the limit or lower the guarantee"},
};
static_assert(default_queue_name == "default", "a rule names it");

}  // namespace

void decode_object(ObjectCursor cursor, Queue& queue) {
  Metadata metadata = read_object(cursor, queue_fields, queue);
  take_identity(metadata, queue);
}

void write_object(DocumentWriter& writer, const Queue& queue) {
  begin_plain_object(writer, queue);
  queue_fields.write(writer, queue);
  writer.end_object();
}

OwnKind own_kind(KindTag<Queue> /*kind*/) {
  return {[](const FieldVisit& visit) { queue_fields.list(visit); }, "mwq", queue_columns,
          queue_rules};
}

}  // namespace makeway
