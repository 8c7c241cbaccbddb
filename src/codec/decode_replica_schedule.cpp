// The fields of ReplicaSchedule, and its decoder.
#include <algorithm>
#include <limits>

#include "codec/field_rows.hpp"
#include "codec/kinds.hpp"

namespace makeway {
namespace {

void want_name(JsonReader& reader, const FieldPath& path, std::string_view field,
               std::string_view name) {
  if (name.empty()) reader.refuse(path.at(field), {}, "it is missing", "say which one");
}

// ---- Planes -------------------------------------------------------------------------------------

using PlaneRow = FieldRow<ReplicaPlane>;

constexpr std::array plane_rows = {
    PlaneRow{{.key = "name",
              .type = FieldType::text,
              .text = "As the label makeway.dev/plane of its nodes says.",
              .required = true},
             [](const FieldValue& value, ReplicaPlane& plane) { value.read(plane.name); }},
    PlaneRow{
        {.key = "committed",
         .type = FieldType::integer,
         .text = "Replicas that should run there.",
         .lowest = 0,
         .highest = replicas_max,
         .noun = "a number",
         .fallback = "0"},
        [](const FieldValue& value, ReplicaPlane& plane) { value.read_integer(plane.committed); }},
    PlaneRow{{.key = "score",
              .type = FieldType::integer,
              .text = "A penalty: planes with a lower one are preferred.",
              .lowest = -plane_score_max,
              .highest = plane_score_max,
              .noun = "a number",
              .fallback = "0"},
             [](const FieldValue& value, ReplicaPlane& plane) { value.read_integer(plane.score); }},
};

void list_plane(const std::string& prefix, const FieldVisit& visit) {
  list_rows<ReplicaPlane>(plane_rows, prefix, visit);
}

void read_plane(JsonReader& reader, JsonCursor& item, const FieldPath& path,
                ReplicaSchedule& schedule) {
  ReplicaPlane plane;
  const std::size_t problems = reader.problem_count();
  read_fields<ReplicaPlane>(reader, item, path, plane_rows, plane);
  if (reader.problem_count() == problems) want_name(reader, path, "name", plane.name);
  if (plane.name.empty()) return;  // Law 13: what cannot be read counts as absent.
  const bool twice =
      std::ranges::find(schedule.planes, plane.name, &ReplicaPlane::name) != schedule.planes.end();
  if (twice) {
    return reader.refuse(path.at("name"), plane.name, "the plane is listed twice",
                         "give each plane one entry");
  }
  schedule.planes.push_back(std::move(plane));
}

// ---- Claims -------------------------------------------------------------------------------------

using VictimRow = FieldRow<ClaimedVictim>;

constexpr std::array victim_rows = {
    VictimRow{
        {.key = "namespace", .type = FieldType::name, .text = "Of the pod.", .required = true},
        [](const FieldValue& value, ClaimedVictim& victim) {
          value.read_name(victim.namespace_name);
        }},
    VictimRow{{.key = "name", .type = FieldType::name, .text = "Of the pod.", .required = true},
              [](const FieldValue& value, ClaimedVictim& victim) { value.read_name(victim.name); }},
    VictimRow{{.key = "uid", .type = FieldType::text, .text = "Of the pod."},
              [](const FieldValue& value, ClaimedVictim& victim) { value.read(victim.uid); }},
    VictimRow{
        {.key = "deployment",
         .type = FieldType::name,
         .text = "The deployment it is a replica of, in that namespace; none: not a replica. "
                 "Needed for committed."},
        [](const FieldValue& value, ClaimedVictim& victim) { value.read_name(victim.deployment); }},
    VictimRow{{.key = "committed",
               .type = FieldType::integer,
               .text = "It was taken by lowering its deployment's commit in the plane to this.",
               .lowest = 0,
               .highest = replicas_max,
               .noun = "a number"},
              [](const FieldValue& value, ClaimedVictim& victim) {
                value.read_integer(victim.committed);
              }},
    VictimRow{
        {.key = "forceDeleted",
         .type = FieldType::time,
         .text = "When a plan had it force-deleted."},
        [](const FieldValue& value, ClaimedVictim& victim) { value.read(victim.force_deleted); }},
};

void list_victim(const std::string& prefix, const FieldVisit& visit) {
  list_rows<ClaimedVictim>(victim_rows, prefix, visit);
}

void read_victim(JsonReader& reader, JsonCursor& item, const FieldPath& path, ReplicaClaim& claim) {
  ClaimedVictim victim;
  read_fields<ClaimedVictim>(reader, item, path, victim_rows, victim);
  want_name(reader, path, "namespace", victim.namespace_name);
  want_name(reader, path, "name", victim.name);
  if (victim.committed && victim.deployment.empty()) {
    reader.refuse(path.at("deployment"), {}, "it is missing, although a commit was lowered",
                  "say whose commit it was, or leave committed out");
  }
  const bool twice = std::ranges::any_of(claim.victims, [&](const ClaimedVictim& other) {
    return !victim.name.empty() && other.name == victim.name &&
           other.namespace_name == victim.namespace_name;
  });
  if (twice) {
    return reader.refuse(path.at("name"), victim.name, "the claim lists the victim twice",
                         "give each victim one entry");
  }
  claim.victims.push_back(std::move(victim));
}

/// A part of the status while it is read: when it began may be missing.
template <class Part>
struct SinceDraft {
  Part part;
  std::optional<Time> since;
};
using ClaimDraft = SinceDraft<ReplicaClaim>;
using ClaimRow = FieldRow<ClaimDraft>;

constexpr std::array claim_rows = {
    ClaimRow{{.key = "plane",
              .type = FieldType::text,
              .text = "Where the room will be.",
              .required = true},
             [](const FieldValue& value, ClaimDraft& draft) { value.read(draft.part.plane); }},
    ClaimRow{{.key = "node", .type = FieldType::name, .text = "On which node.", .required = true},
             [](const FieldValue& value, ClaimDraft& draft) { value.read_name(draft.part.node); }},
    ClaimRow{{.key = "since",
              .type = FieldType::time,
              .text = "When the claim began.",
              .required = true},
             [](const FieldValue& value, ClaimDraft& draft) { value.read(draft.since); }},
    ClaimRow{{.key = "victims",
              .type = FieldType::objects,
              .text = "Pods whose room the claim counts on."},
             [](const FieldValue& value, ClaimDraft& draft) {
               value.reader.each_item(value.value, value.at,
                                      [&](JsonCursor& item, const FieldPath& to) {
                                        read_victim(value.reader, item, to, draft.part);
                                      });
             },
             list_victim},
};

void list_claim(const std::string& prefix, const FieldVisit& visit) {
  list_rows<ClaimDraft>(claim_rows, prefix, visit);
}

void read_claim(JsonReader& reader, JsonCursor& item, const FieldPath& path,
                ReplicaSchedule& schedule) {
  ClaimDraft draft;
  read_fields<ClaimDraft>(reader, item, path, claim_rows, draft);
  want_name(reader, path, "plane", draft.part.plane);
  want_name(reader, path, "node", draft.part.node);
  if (!draft.since) {
    reader.refuse(path.at("since"), {}, "it is missing", "say when the claim began");
  }
  draft.part.since = draft.since.value_or(Time{});
  schedule.status.claims.push_back(std::move(draft.part));
}

// ---- The rest of the status ---------------------------------------------------------------------

using MissedRow = FieldRow<MissedVictim>;

constexpr std::array missed_rows = {
    MissedRow{
        {.key = "plane", .type = FieldType::text, .text = "Where the claim was.", .required = true},
        [](const FieldValue& value, MissedVictim& missed) { value.read(missed.plane); }},
    MissedRow{{.key = "node", .type = FieldType::name, .text = "On which node.", .required = true},
              [](const FieldValue& value, MissedVictim& missed) { value.read_name(missed.node); }},
    MissedRow{{.key = "namespace",
               .type = FieldType::name,
               .text = "Of the deployment.",
               .required = true},
              [](const FieldValue& value, MissedVictim& missed) {
                value.read_name(missed.namespace_name);
              }},
    MissedRow{
        {.key = "deployment",
         .type = FieldType::name,
         .text = "It was scaled down, and Kubernetes removed another pod.",
         .required = true},
        [](const FieldValue& value, MissedVictim& missed) { value.read_name(missed.deployment); }},
    MissedRow{{.key = "committed",
               .type = FieldType::integer,
               .text = "The lowest commit with which that happened.",
               .lowest = 0,
               .highest = replicas_max,
               .noun = "a number",
               .fallback = "0"},
              [](const FieldValue& value, MissedVictim& missed) {
                value.read_integer(missed.committed);
              }},
};

void list_missed(const std::string& prefix, const FieldVisit& visit) {
  list_rows<MissedVictim>(missed_rows, prefix, visit);
}

void read_missed(JsonReader& reader, JsonCursor& item, const FieldPath& path,
                 ReplicaSchedule& schedule) {
  MissedVictim missed;
  read_fields<MissedVictim>(reader, item, path, missed_rows, missed);
  want_name(reader, path, "plane", missed.plane);
  want_name(reader, path, "node", missed.node);
  want_name(reader, path, "namespace", missed.namespace_name);
  want_name(reader, path, "deployment", missed.deployment);
  schedule.status.missed.push_back(std::move(missed));
}

using SurplusDraft = SinceDraft<SurplusPod>;
using SurplusRow = FieldRow<SurplusDraft>;

constexpr std::array surplus_rows = {
    SurplusRow{
        {.key = "name",
         .type = FieldType::name,
         .text = "A pod above the commit of its plane.",
         .required = true},
        [](const FieldValue& value, SurplusDraft& draft) { value.read_name(draft.part.name); }},
    SurplusRow{{.key = "plane",
                .type = FieldType::text,
                .text = "The plane that the pod is in; none: where Makeway runs."},
               [](const FieldValue& value, SurplusDraft& draft) { value.read(draft.part.plane); }},
    SurplusRow{
        {.key = "since", .type = FieldType::time, .text = "Since when it is.", .required = true},
        [](const FieldValue& value, SurplusDraft& draft) { value.read(draft.since); }},
};

void list_surplus(const std::string& prefix, const FieldVisit& visit) {
  list_rows<SurplusDraft>(surplus_rows, prefix, visit);
}

void read_surplus(JsonReader& reader, JsonCursor& item, const FieldPath& path,
                  ReplicaSchedule& schedule) {
  SurplusDraft draft;
  read_fields<SurplusDraft>(reader, item, path, surplus_rows, draft);
  want_name(reader, path, "name", draft.part.name);
  if (!draft.since) {
    reader.refuse(path.at("since"), {}, "it is missing", "say since when it is surplus");
  }
  draft.part.since = draft.since.value_or(Time{});
  schedule.status.surplus.push_back(std::move(draft.part));
}

// ---- ReplicaSchedule ----------------------------------------------------------------------------

using ScheduleRow = FieldRow<ReplicaSchedule>;

/// Reads every item of a list with `read`.
template <void (*Read)(JsonReader&, JsonCursor&, const FieldPath&, ReplicaSchedule&)>
void read_list(const FieldValue& value, ReplicaSchedule& schedule) {
  value.reader.each_item(value.value, value.at, [&](JsonCursor& item, const FieldPath& to) {
    Read(value.reader, item, to, schedule);
  });
}

constexpr std::array schedule_spec = {
    ScheduleRow{
        {.key = "deployment",
         .type = FieldType::name,
         .text =
             "The label makeway.dev/deployment of its pods. If not set: the name of the schedule."},
        [](const FieldValue& value, ReplicaSchedule& schedule) {
          value.read_name(schedule.deployment);
        }},
    ScheduleRow{{.key = "priorityClassName",
                 .type = FieldType::text,
                 .text = "If neither it nor a priority is set: the global default class, else 0."},
                [](const FieldValue& value, ReplicaSchedule& schedule) {
                  value.read(schedule.priority_class);
                }},
    ScheduleRow{
        {.key = "priority",
         .type = FieldType::integer,
         .text = "Wins over the class.",
         .lowest = std::numeric_limits<std::int32_t>::min(),
         .highest = std::numeric_limits<std::int32_t>::max()},
        [](const FieldValue& value, ReplicaSchedule& schedule) { value.read(schedule.priority); }},
    ScheduleRow{{.key = "resources",
                 .type = FieldType::quantities,
                 .text = "What one replica requests, as in a container.",
                 .required = true},
                [](const FieldValue& value, ReplicaSchedule& schedule) {
                  decode_amounts(value.reader, value.value, value.at, schedule.requests);
                }},
    ScheduleRow{{.key = "unmet",
                 .type = FieldType::integer,
                 .text = "Replicas that are wanted and committed nowhere yet.",
                 .lowest = 0,
                 .highest = replicas_max,
                 .noun = "a number",
                 .fallback = "0"},
                [](const FieldValue& value, ReplicaSchedule& schedule) {
                  value.read_integer(schedule.unmet);
                }},
    ScheduleRow{{.key = "selector",
                 .type = FieldType::labels,
                 .text = "Labels that its pods carry. Where trust.mode is cluster, a "
                         "pod without all of them does not belong to it."},
                [](const FieldValue& value, ReplicaSchedule& schedule) {
                  decode_labels(value.reader, value.value, value.at, schedule.selector);
                }},
    ScheduleRow{{.key = "planes", .type = FieldType::objects, .text = "Where it may run."},
                read_list<read_plane>,
                list_plane},
};

constexpr std::array schedule_status = {
    ScheduleRow{{.key = "claims",
                 .type = FieldType::objects,
                 .text = "Room for its unmet replicas, once victims are gone."},
                read_list<read_claim>,
                list_claim},
    ScheduleRow{{.key = "missed",
                 .type = FieldType::objects,
                 .text = "Where a claim came to nothing, while it has unmet replicas."},
                read_list<read_missed>,
                list_missed},
    ScheduleRow{{.key = "surplus",
                 .type = FieldType::objects,
                 .text = "Pods that are more than the commit of their plane."},
                read_list<read_surplus>,
                list_surplus},
    ScheduleRow{conditions_field, nullptr, list_conditions},
};

constexpr FieldTable<ReplicaSchedule> schedule_fields = {.spec = schedule_spec,
                                                         .status = schedule_status};

}  // namespace

void decode_object(ObjectCursor cursor, ReplicaSchedule& schedule) {
  JsonReader& reader = cursor.reader;
  const std::size_t problems = reader.problem_count();
  Metadata metadata = read_object<ReplicaSchedule>(cursor, schedule_fields, schedule);
  take_identity(metadata, schedule);
  if (schedule.requests.empty() && reader.problem_count() == problems) {
    reader.refuse(cursor.path.at("spec").at("resources"), {}, "a replica needs something",
                  "say what one replica requests, as nvidia.com/gpu: 1");
  }
}

void list_fields(KindTag<ReplicaSchedule> /*kind*/, const FieldVisit& visit) {
  schedule_fields.list(visit);
}

}  // namespace makeway
