// ReplicaSchedule: its fields, read and written.
#include <algorithm>

#include "codec/field_rows.hpp"
#include "codec/kinds.hpp"
#include "codec/replica_status_writer.hpp"
#include "model/columns.hpp"

namespace makeway {
namespace {

void want_name(const JsonField& item, std::string_view field, std::string_view name) {
  if (name.empty()) item.refuse_at(field, {}, "it is missing", "say which one");
}

/// `since` stays `no_time` where the field says no time.
void want_time(const JsonField& item, Time& since, std::string_view remedy) {
  if (since != no_time) return;
  item.refuse_at("since", {}, "it is missing", remedy);
  since = {};
}

constexpr Field required_name = {.type = FieldType::name, .required = true};

// ---- Planes -------------------------------------------------------------------------------------

using PlaneRow = FieldRow<ReplicaPlane>;

constexpr std::array plane_rows = {
    PlaneRow::of<&ReplicaPlane::name>("name", "As the label makeway.dev/plane of its nodes says.",
                                      {.required = true}),
    PlaneRow::of<&ReplicaPlane::committed>(
        "committed", "Replicas that should run there.",
        {.lowest = 0, .highest = replicas_max, .noun = "a number", .fallback = "0"}),
    PlaneRow::of<&ReplicaPlane::score>("score", "A penalty: planes with a lower one are preferred.",
                                       {.lowest = -plane_score_max,
                                        .highest = plane_score_max,
                                        .noun = "a number",
                                        .fallback = "0"}),
};

void read_plane(const JsonField& item, ReplicaSchedule& schedule) {
  ReplicaPlane plane;
  const std::size_t problems = item.reader.problem_count();
  read_fields(item, plane_rows, plane);
  if (item.reader.problem_count() == problems) want_name(item, "name", plane.name);
  if (plane.name.empty()) return;  // Law 13: what cannot be read counts as absent.
  const bool twice =
      std::ranges::find(schedule.planes, plane.name, &ReplicaPlane::name) != schedule.planes.end();
  if (twice) {
    return item.refuse_at("name", plane.name, "the plane is listed twice",
                          "give each plane one entry");
  }
  schedule.planes.push_back(std::move(plane));
}

// ---- Claims -------------------------------------------------------------------------------------

using VictimRow = FieldRow<ClaimedVictim>;

constexpr std::array victim_rows = {
    VictimRow::of<&ClaimedVictim::namespace_name>("namespace", "Of the pod.", required_name),
    VictimRow::of<&ClaimedVictim::name>("name", "Of the pod.", required_name),
    VictimRow::of<&ClaimedVictim::uid>("uid", "Of the pod."),
    VictimRow::of<&ClaimedVictim::deployment>(
        "deployment",
        "The deployment it is a replica of, in that namespace; none: not a replica. Needed for "
        "committed.",
        {.type = FieldType::name}),
    VictimRow::of<&ClaimedVictim::committed>(
        "committed", "It was taken by lowering its deployment's commit in the plane to this.",
        {.lowest = 0, .highest = replicas_max, .noun = "a number"}),
    VictimRow::of<&ClaimedVictim::force_deleted>("forceDeleted",
                                                 "When a plan had it force-deleted."),
};

void read_victim(const JsonField& item, ReplicaClaim& claim) {
  ClaimedVictim victim;
  read_fields(item, victim_rows, victim);
  want_name(item, "namespace", victim.namespace_name);
  want_name(item, "name", victim.name);
  if (victim.committed && victim.deployment.empty()) {
    item.refuse_at("deployment", {}, "it is missing, although a commit was lowered",
                   "say whose commit it was, or leave committed out");
  }
  const bool twice = std::ranges::any_of(claim.victims, [&](const ClaimedVictim& other) {
    return !victim.name.empty() && other.name == victim.name &&
           other.namespace_name == victim.namespace_name;
  });
  if (twice) {
    return item.refuse_at("name", victim.name, "the claim lists the victim twice",
                          "give each victim one entry");
  }
  claim.victims.push_back(std::move(victim));
}

using ClaimRow = FieldRow<ReplicaClaim>;

constexpr std::array claim_rows = {
    ClaimRow::of<&ReplicaClaim::plane>("plane", "Where the room will be.", {.required = true}),
    ClaimRow::of<&ReplicaClaim::node>("node", "On which node.", required_name),
    ClaimRow::of<&ReplicaClaim::since>("since", "When the claim began.", {.required = true}),
    ClaimRow::list_of<victim_rows, &ReplicaClaim::victims>(
        "victims", "Pods whose room the claim counts on.", read_items<read_victim, ReplicaClaim>),
};

void read_claim(const JsonField& item, ReplicaSchedule& schedule) {
  ReplicaClaim claim{.since = no_time};
  read_fields(item, claim_rows, claim);
  want_name(item, "plane", claim.plane);
  want_name(item, "node", claim.node);
  want_time(item, claim.since, "say when the claim began");
  schedule.status.claims.push_back(std::move(claim));
}

// ---- The rest of the status ---------------------------------------------------------------------

using MissedRow = FieldRow<MissedVictim>;

constexpr std::array missed_rows = {
    MissedRow::of<&MissedVictim::plane>("plane", "Where the claim was.", {.required = true}),
    MissedRow::of<&MissedVictim::node>("node", "On which node.", required_name),
    MissedRow::of<&MissedVictim::namespace_name>("namespace", "Of the deployment.", required_name),
    MissedRow::of<&MissedVictim::deployment>(
        "deployment", "It was scaled down, and Kubernetes removed another pod.", required_name),
    MissedRow::of<&MissedVictim::committed>(
        "committed", "The lowest commit with which that happened.",
        {.lowest = 0, .highest = replicas_max, .noun = "a number", .fallback = "0"})
        .always_written(),
};

void read_missed(const JsonField& item, ReplicaSchedule& schedule) {
  MissedVictim missed;
  read_fields(item, missed_rows, missed);
  want_name(item, "plane", missed.plane);
  want_name(item, "node", missed.node);
  want_name(item, "namespace", missed.namespace_name);
  want_name(item, "deployment", missed.deployment);
  schedule.status.missed.push_back(std::move(missed));
}

using SurplusRow = FieldRow<SurplusPod>;

constexpr std::array surplus_rows = {
    SurplusRow::of<&SurplusPod::name>("name", "A pod above the commit of its plane.",
                                      required_name),
    SurplusRow::of<&SurplusPod::plane>("plane",
                                       "The plane that the pod is in; none: where Makeway runs."),
    SurplusRow::of<&SurplusPod::since>("since", "Since when it is.", {.required = true}),
};

void read_surplus(const JsonField& item, ReplicaSchedule& schedule) {
  SurplusPod pod{.since = no_time};
  read_fields(item, surplus_rows, pod);
  want_name(item, "name", pod.name);
  want_time(item, pod.since, "say since when it is surplus");
  schedule.status.surplus.push_back(std::move(pod));
}

// ---- ReplicaSchedule ----------------------------------------------------------------------------

using ScheduleRow = FieldRow<ReplicaSchedule>;

constexpr std::array schedule_spec = {
    ScheduleRow::of<&ReplicaSchedule::deployment>(
        "deployment",
        "The label makeway.dev/deployment of its pods. If not set: the name of the schedule.",
        {.type = FieldType::name})
        .written_if(
            [](const ReplicaSchedule& schedule) { return schedule.deployment != schedule.name; }),
    ScheduleRow::of<&ReplicaSchedule::priority_class>(
        "priorityClassName",
        "If neither it nor a priority is set: the global default class, else 0."),
    ScheduleRow::of<&ReplicaSchedule::priority>("priority", "Wins over the class."),
    ScheduleRow::of<&ReplicaSchedule::requests>(
        "resources", "What one replica requests, as in a container.", {.required = true}),
    ScheduleRow::of<&ReplicaSchedule::unmet>(
        "unmet", "Replicas that are wanted and committed nowhere yet.",
        {.lowest = 0, .highest = replicas_max, .noun = "a number", .fallback = "0"}),
    ScheduleRow::of<&ReplicaSchedule::selector>(
        "selector",
        "Labels that its pods carry. Where trust.mode is cluster, a pod without all of them does "
        "not belong to it."),
    ScheduleRow::list_of<plane_rows, &ReplicaSchedule::planes>(
        "planes", "Where it may run.", read_items<read_plane, ReplicaSchedule>),
};

constexpr std::array schedule_status = {
    ScheduleRow::list_of<claim_rows, &ReplicaSchedule::status, &ReplicaStatus::claims>(
        "claims", "Room for its unmet replicas, once victims are gone.",
        read_items<read_claim, ReplicaSchedule>),
    ScheduleRow::list_of<missed_rows, &ReplicaSchedule::status, &ReplicaStatus::missed>(
        "missed", "Where a claim came to nothing, while it has unmet replicas.",
        read_items<read_missed, ReplicaSchedule>),
    ScheduleRow::list_of<surplus_rows, &ReplicaSchedule::status, &ReplicaStatus::surplus>(
        "surplus", "Pods that are more than the commit of their plane.",
        read_items<read_surplus, ReplicaSchedule>),
    ScheduleRow{conditions_field, nullptr, list_conditions},
};

constexpr FieldTable<ReplicaSchedule> schedule_fields = {.spec = schedule_spec,
                                                         .status = schedule_status};

constexpr std::array schedule_columns = {
    PrinterColumn{"Deployment", "string", ".spec.deployment"},
    PrinterColumn{"Unmet", "integer", ".spec.unmet"},
    PrinterColumn{"Planes", "string", ".spec.planes[*].name"},
    PrinterColumn{"Committed", "string", ".spec.planes[*].committed", true},
};
constexpr std::array schedule_rules = {
    CelRule{"spec.resources", "size(self) > 0",
            "a replica needs something: say what one replica requests, as nvidia.com/gpu: 1"},
};

}  // namespace

void decode_object(ObjectCursor cursor, ReplicaSchedule& schedule) {
  JsonReader& reader = cursor.reader;
  const std::size_t problems = reader.problem_count();
  Metadata metadata = read_object(cursor, schedule_fields, schedule);
  take_identity(metadata, schedule);
  if (schedule.requests.empty() && reader.problem_count() == problems) {
    reader.refuse(cursor.path.at("spec").at("resources"), {}, "a replica needs something",
                  "say what one replica requests, as nvidia.com/gpu: 1");
  }
}

/// A schedule's status may be needed alone, and only the rows know how it is written.
void write_replica_status(DocumentWriter& writer, const ReplicaStatus& status) {
  const ReplicaSchedule schedule{.status = status};
  writer.begin_object();
  write_rows(writer, schedule_fields.status, schedule);
  writer.end_object();
}

void write_object(DocumentWriter& writer, const ReplicaSchedule& schedule) {
  begin_object_of<ReplicaSchedule>(writer);
  write_object(writer, "metadata", [&] {
    write_identity(writer, schedule);
    write_plane_if(writer, schedule.plane);
    time_if(writer, "creationTimestamp", schedule.created);
  });
  schedule_fields.write(writer, schedule);
  writer.end_object();
}

OwnKind own_kind(KindTag<ReplicaSchedule> /*kind*/) {
  return {[](const FieldVisit& visit) { schedule_fields.list(visit); }, "mwrs", schedule_columns,
          schedule_rules};
}

}  // namespace makeway
