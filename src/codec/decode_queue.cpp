// The fields of Queue, and its decoder.
#include "codec/field_rows.hpp"
#include "codec/kinds.hpp"

namespace makeway {
namespace {

using QueueRow = FieldRow<Queue>;

constexpr std::array queue_spec = {
    QueueRow{{.key = "weight",
              .type = FieldType::integer,
              .text = "Its part of what its parent, or the cluster, divides: in proportion to the "
                      "weights of its siblings.",
              .lowest = 1,
              .highest = 1'000'000,
              .noun = "a weight",
              .fallback = "1"},
             [](const FieldValue& value, Queue& queue) { value.read_integer(queue.weight); }},
    QueueRow{{.key = "parent",
              .type = FieldType::name,
              .text = "The queue whose share it divides with its siblings; none: the cluster."},
             [](const FieldValue& value, Queue& queue) { value.read_name(queue.parent); }},
    QueueRow{{.key = "priority",
              .type = FieldType::integer,
              .text = "Queues of a higher priority receive first.",
              .lowest = std::numeric_limits<std::int32_t>::min(),
              .highest = std::numeric_limits<std::int32_t>::max(),
              .fallback = "0"},
             [](const FieldValue& value, Queue& queue) { value.read(queue.priority); }},
    QueueRow{{.key = "reclaimable",
              .type = FieldType::boolean,
              .text = "False: it gives only room that it does not use.",
              .fallback = "true"},
             [](const FieldValue& value, Queue& queue) { value.read(queue.reclaimable); }},
    QueueRow{
        {.key = "guarantee", .type = FieldType::quantities, .text = "The least that it deserves."},
        [](const FieldValue& value, Queue& queue) {
          decode_amounts(value.reader, value.value, value.at, queue.guarantee);
        }},
    QueueRow{{.key = "limit",
              .type = FieldType::quantities,
              .text = "The most that it deserves; a resource that is not listed has no limit."},
             [](const FieldValue& value, Queue& queue) {
               decode_quotas(value.reader, value.value, value.at, queue.limit);
             }},
    QueueRow{{.key = "namespaces",
              .type = FieldType::names,
              .text = "Pods of these namespaces belong to it unless a label says otherwise."},
             [](const FieldValue& value, Queue& queue) {
               value.read_names(queue.namespaces);
               std::ranges::sort(queue.namespaces);
             }},
};

constexpr std::array queue_status = {
    QueueRow{{.key = "allocated",
              .type = FieldType::quantities,
              .text = "What may run in it; a resource that is not listed counts as used."},
             [](const FieldValue& value, Queue& queue) {
               decode_quotas(value.reader, value.value, value.at, queue.allocated);
             }},
    QueueRow{{.key = "preempting",
              .type = FieldType::quantities,
              .text = "Promised: becomes allocated when the pods that hold it are gone."},
             [](const FieldValue& value, Queue& queue) {
               decode_amounts(value.reader, value.value, value.at, queue.preempting);
             }},
    QueueRow{
        {.key = "deserved", .type = FieldType::quantities, .text = "Its share in the last cycle."},
        [](const FieldValue& value, Queue& queue) {
          decode_quotas(value.reader, value.value, value.at, queue.deserved);
        }},
    QueueRow{{.key = "used",
              .type = FieldType::quantities,
              .text = "What its bound pods requested in the last cycle."},
             [](const FieldValue& value, Queue& queue) {
               decode_quotas(value.reader, value.value, value.at, queue.used);
             }},
    QueueRow{conditions_field, nullptr, list_conditions},
};

constexpr FieldTable<Queue> queue_fields = {.spec = queue_spec, .status = queue_status};

}  // namespace

void decode_object(ObjectCursor cursor, Queue& queue) {
  Metadata metadata = read_object<Queue>(cursor, queue_fields, queue);
  take_identity(metadata, queue);
}

void list_fields(KindTag<Queue> /*kind*/, const FieldVisit& visit) { queue_fields.list(visit); }

}  // namespace makeway
