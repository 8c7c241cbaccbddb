#include "model/validation/priorities.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "model/group_name.hpp"
#include "model/group_status.hpp"
#include "model/names.hpp"
#include "model/object_text.hpp"

namespace makeway {
namespace {

/// One claim, and where its author finds it.
struct Stated {
  std::string object;
  std::string fields;  ///< "spec.", "spec.podGroupTemplates[workers]."
  const PriorityClaim* claim = nullptr;
  std::string_view plane;  ///< The plane of the classes that it names.
  bool is_template = false;

  /// Objects say it in an annotation or in the seed's field; a template has only the field.
  std::string preemption_field() const {
    return is_template || claim->preemption_class_in_field
               ? fields + "preemptionPriorityClassName"
               : annotation_field(names::preemption_priority_class);
  }
};

std::string group_text(const Cluster& cluster, GroupIndex index) {
  const Group& group = cluster.groups()[index];
  return object_text("PodGroup", {cluster.text(group.namespace_name), cluster.text(group.name),
                                  cluster.text(group.plane)});
}

Stated stated_by(const Workload& workload) {
  return {.object = object_text(workload),
          .fields = "spec.",
          .claim = &workload.priority,
          .plane = workload.plane};
}

Stated stated_by(const Workload& workload, const GroupTemplate& entry) {
  return {.object = object_text(workload),
          .fields = fmt::format("spec.podGroupTemplates[{}].", entry.name),
          .claim = &entry.priority,
          .plane = workload.plane,
          .is_template = true};
}

/// Groups with the workloads and templates that they name.
class GroupClaims {
 public:
  explicit GroupClaims(const Cluster& cluster) : cluster_(cluster) {
    for (const Workload* workload : cluster.workloads()) {
      workloads_.emplace(key_of(*workload), workload);
    }
  }

  std::string workload_name(GroupIndex index) const {
    const Group& group = cluster_.groups()[index];
    return group.object ? group.object->workload
                        : std::string(workload_of_group_name(cluster_.text(group.name)));
  }
  std::string template_name(GroupIndex index) const {
    const Group& group = cluster_.groups()[index];
    return group.object ? group.object->template_name
                        : std::string(template_of_group_name(cluster_.text(group.name)));
  }
  const Workload* workload(GroupIndex index) const {
    const Group& group = cluster_.groups()[index];
    const std::string name = workload_name(index);
    const auto found =
        workloads_.find({cluster_.text(group.namespace_name), name, cluster_.text(group.plane)});
    return found == workloads_.end() ? nullptr : found->second;
  }
  const GroupTemplate* template_of(GroupIndex index) const {
    const Workload* const owner = workload(index);
    if (owner == nullptr) return nullptr;
    const auto found =
        std::ranges::find(owner->templates, template_name(index), &GroupTemplate::name);
    return found == owner->templates.end() ? nullptr : &*found;
  }

  /// Most specific first, as in cluster_units.cpp.
  std::vector<Stated> claims(GroupIndex index) const {
    std::vector<Stated> result;
    const Group& group = cluster_.groups()[index];
    if (group.object) {
      result.push_back({.object = group_text(cluster_, index),
                        .fields = "spec.",
                        .claim = &group.object->priority,
                        .plane = group.object->plane});
    }
    const Workload* const owner = workload(index);
    if (owner == nullptr) return result;
    if (const GroupTemplate* entry = template_of(index)) {
      result.push_back(stated_by(*owner, *entry));
    }
    result.push_back(stated_by(*owner));
    return result;
  }

 private:
  const Cluster& cluster_;
  std::map<ObjectKeyView, const Workload*> workloads_;
};

void check_claim(Findings& findings, const Stated& stated) {
  const auto known = [&](std::string_view name) {
    return name.empty() || findings.cluster().find_priority_class(name, stated.plane) != nullptr;
  };
  const PriorityClaim& claim = *stated.claim;
  if (!claim.priority && !known(claim.priority_class)) {
    findings.unknown_class(stated.object, stated.fields + "priorityClassName",
                           claim.priority_class);
  }
  if (!known(claim.preemption_priority_class)) {
    findings.unknown_class(stated.object, stated.preemption_field(),
                           claim.preemption_priority_class);
  }
}

/// A unit's preemption priority, and the object that sets it.
struct PreemptionPriority {
  std::string object;
  std::string field = annotation_field(names::preemption_priority_class);
  std::string value;     ///< The class as it was written; empty: the unit's pods say it.
  std::string asked_by;  ///< " of PodGroup x/y" where another object says it.
  std::int32_t scheduling = 0;
  std::int32_t preemption = 0;
};

PreemptionPriority preemption_of(const Cluster& cluster, const GroupClaims& claims,
                                 GroupIndex index) {
  const Unit& unit = cluster.units()[cluster.groups()[index].unit];
  PreemptionPriority result{.object = group_text(cluster, index),
                            .scheduling = unit.scheduling_priority,
                            .preemption = unit.preemption_priority};
  for (const Stated& stated : claims.claims(index)) {
    if (stated.claim->preemption_priority_class.empty()) continue;
    if (stated.object != result.object) result.asked_by = " of " + result.object;
    result.object = stated.object;
    result.field = stated.preemption_field();
    result.value = stated.claim->preemption_priority_class;
    break;
  }
  return result;
}

/// What a group of this template, or of the workload if it has none, will have.
PreemptionPriority preemption_of(const Cluster& cluster, const Workload& workload,
                                 const GroupTemplate* entry) {
  PreemptionPriority result{.object = object_text(workload)};
  const PriorityClass* const usual = cluster.default_priority_class(workload.plane);
  if (usual != nullptr) result.scheduling = usual->value;
  std::vector<Stated> claims = {stated_by(workload)};  // The most specific one speaks last.
  if (entry != nullptr) claims.push_back(stated_by(workload, *entry));
  const auto value_of = [&](std::string_view name) {
    const PriorityClass* const named = cluster.find_priority_class(name, workload.plane);
    return named == nullptr ? 0 : named->value;
  };
  for (const Stated& stated : claims) {
    const PriorityClaim& claim = *stated.claim;
    if (!claim.priority_class.empty()) result.scheduling = value_of(claim.priority_class);
    if (claim.priority) result.scheduling = *claim.priority;
  }
  result.preemption = result.scheduling;
  for (const Stated& stated : claims) {
    const std::string& name = stated.claim->preemption_priority_class;
    if (cluster.find_priority_class(name, workload.plane) == nullptr) continue;
    result.field = stated.preemption_field();
    result.value = name;
    result.preemption = value_of(name);
  }
  return result;
}

/// Calls `check(priority)` for the templates of workloads that no group follows yet: their groups
/// are checked themselves.
void check_unused_templates(const Cluster& cluster, const GroupClaims& claims,
                            const std::function<void(const PreemptionPriority&)>& check) {
  std::set<std::pair<const Workload*, const GroupTemplate*>> followed;
  for (const GroupIndex index : cluster.groups_by_name()) {
    if (const Workload* const workload = claims.workload(index)) {
      followed.emplace(workload, claims.template_of(index));
      followed.emplace(workload, nullptr);
    }
  }
  for (const Workload* const workload : cluster.workloads()) {
    if (workload->templates.empty() && !followed.contains({workload, nullptr})) {
      check(preemption_of(cluster, *workload, nullptr));
    }
    for (const GroupTemplate& entry : workload->templates) {
      if (!followed.contains({workload, &entry})) check(preemption_of(cluster, *workload, &entry));
    }
  }
}

PreemptionPriority preemption_of(const Cluster& cluster, PodIndex pod) {
  const Unit& unit = cluster.units()[cluster.pods().unit[pod]];
  return {.object = "Pod " + cluster.pod_key(pod),
          .value = cluster.notes(cluster.pods().notes[pod]).preemption_priority_class,
          .scheduling = unit.scheduling_priority,
          .preemption = unit.preemption_priority};
}

void check_order(Findings& findings, const PreemptionPriority& priority) {
  if (priority.preemption >= priority.scheduling) return;
  findings.error(
      {.object = priority.object,
       .field = priority.field,
       .value = shorten(priority.value),
       .message = fmt::format("the preemption priority {} is below the scheduling priority {}{}, "
                              "so two workloads could preempt each other forever",
                              priority.preemption, priority.scheduling, priority.asked_by),
       .remedy = fmt::format("name a class of at least {}", priority.scheduling)});
}

void check_cap(Findings& findings, const WorkloadSettings& settings,
               const PreemptionPriority& priority) {
  const std::int64_t above = std::int64_t{priority.preemption} - priority.scheduling;
  if (above <= 0) return;  // Equal, or an error already.
  const std::int64_t from = settings.preemption_priority_from;
  const std::int64_t to = settings.preemption_priority_to;
  if (priority.scheduling < from || priority.scheduling > to) {
    findings.error({.object = priority.object,
                    .field = priority.field,
                    .value = shorten(priority.value),
                    .message = fmt::format(
                        "a preemption priority of its own ({}) is allowed only for "
                        "scheduling priorities from {} to {}, and here it is {}{} "
                        "(workload.preemptionPriorityFrom, preemptionPriorityTo)",
                        priority.preemption, from, to, priority.scheduling, priority.asked_by),
                    .remedy = "leave it out, or ask the administrator"});
  } else if (above > settings.preemption_priority_above_max) {
    findings.error(
        {.object = priority.object,
         .field = priority.field,
         .value = shorten(priority.value),
         .message = fmt::format("the preemption priority {} lies {} above the scheduling priority "
                                "{}{}; allowed is {} (workload.preemptionPriorityAboveMax)",
                                priority.preemption, above, priority.scheduling, priority.asked_by,
                                settings.preemption_priority_above_max),
         .remedy = fmt::format("name a class of at most {}",
                               priority.scheduling + settings.preemption_priority_above_max)});
  }
}

/// Calls `check(findings, pod)` for the pods that `suspicious` picks, by name: which problems are
/// kept must not depend on the order of the input. Picking is cheap, so that names are compared
/// only where something is wrong.
void check_suspects(Findings& findings, const std::function<bool(PodIndex)>& suspicious,
                    const std::function<void(Findings&, PodIndex)>& check) {
  const Cluster& cluster = findings.cluster();
  std::vector<std::pair<std::string, PodIndex>> suspects;
  for (const PodIndex pod : cluster.each_row()) {
    if (suspicious(pod)) suspects.emplace_back(cluster.pod_key(pod), pod);
  }
  std::ranges::sort(suspects, {}, &std::pair<std::string, PodIndex>::first);
  for (const auto& [name, pod] : suspects) check(findings, pod);
}

void check_pod(Findings& findings, PodIndex pod) {
  const Cluster& cluster = findings.cluster();
  const std::string_view name = cluster.text(cluster.pods().priority_class[pod]);
  const std::string_view plane = cluster.text(cluster.pods().plane[pod]);
  if (!cluster.pods().flags[pod].priority_given && !name.empty() &&
      cluster.find_priority_class(name, plane) == nullptr) {
    findings.unknown_class("Pod " + cluster.pod_key(pod), "spec.priorityClassName", name);
  }
  const std::string& preemption_class =
      cluster.notes(cluster.pods().notes[pod]).preemption_priority_class;
  if (!preemption_class.empty() &&
      cluster.find_priority_class(preemption_class, plane) == nullptr) {
    findings.unknown_class("Pod " + cluster.pod_key(pod),
                           annotation_field(names::preemption_priority_class), preemption_class);
  }
  const Unit& unit = cluster.units()[cluster.pods().unit[pod]];
  if (unit.kind == UnitKind::pod) check_order(findings, preemption_of(cluster, pod));
}

}  // namespace

void check_groups(Findings& findings) {
  const Cluster& cluster = findings.cluster();
  const GroupClaims claims(cluster);
  for (const GroupIndex index : cluster.groups_by_name()) {
    const Group& group = cluster.groups()[index];
    if (group.object) check_claim(findings, claims.claims(index).front());
    check_order(findings, preemption_of(cluster, claims, index));
  }
  check_unused_templates(cluster, claims, [&](const PreemptionPriority& priority) {
    check_order(findings, priority);
  });
  for (const Workload* workload : cluster.workloads()) {
    check_claim(findings, stated_by(*workload));
    for (const GroupTemplate& entry : workload->templates) {
      check_claim(findings, stated_by(*workload, entry));
    }
  }
}

void check_pods(Findings& findings) {
  const Cluster& cluster = findings.cluster();
  const auto suspicious = [&](PodIndex pod) {
    const Unit& unit = cluster.units()[cluster.pods().unit[pod]];
    return !cluster.pods().flags[pod].priority_given ||
           !cluster.notes(cluster.pods().notes[pod]).preemption_priority_class.empty() ||
           unit.preemption_priority < unit.scheduling_priority;
  };
  check_suspects(findings, suspicious, check_pod);
}

void check_caps(Findings& findings, const WorkloadSettings& settings) {
  const bool uncapped = settings.preemption_priority_above_max == priority_distance_max &&
                        settings.preemption_priority_from == priority_min &&
                        settings.preemption_priority_to == priority_max;
  if (uncapped || !settings.honour_preemption_priority) return;
  const Cluster& cluster = findings.cluster();
  const GroupClaims claims(cluster);
  for (const GroupIndex index : cluster.groups_by_name()) {
    check_cap(findings, settings, preemption_of(cluster, claims, index));
  }
  check_unused_templates(cluster, claims, [&](const PreemptionPriority& priority) {
    check_cap(findings, settings, priority);
  });
  const auto suspicious = [&](PodIndex pod) {
    const Unit& unit = cluster.units()[cluster.pods().unit[pod]];
    return unit.kind == UnitKind::pod && unit.preemption_priority > unit.scheduling_priority;
  };
  check_suspects(findings, suspicious, [&](Findings& found, PodIndex pod) {
    check_cap(found, settings, preemption_of(cluster, pod));
  });
}

// ---- Lint -------------------------------------------------------------------------------------

namespace {

/// A number and a class that disagree: an API server would have refused it.
void lint_claim(Findings& findings, const Stated& stated) {
  const PriorityClaim& claim = *stated.claim;
  const PriorityClass* const named =
      findings.cluster().find_priority_class(claim.priority_class, stated.plane);
  if (!claim.priority || named == nullptr || named->value == *claim.priority) return;
  findings.warning(
      {.object = stated.object,
       .field = stated.fields + "priority",
       .value = fmt::format("{}", *claim.priority),
       .message = fmt::format("its class {} has {}; the number applies", named->name, named->value),
       .remedy = "leave one of them out"});
}

/// What a group relies on and the input does not have.
void doubt_references(Findings& findings, const GroupClaims& claims, GroupIndex index) {
  const Cluster& cluster = findings.cluster();
  const PodGroup& object = *cluster.groups()[index].object;
  if (!object.parent.empty()) {
    findings.warning({.object = group_text(cluster, index),
                      .field = "spec.parentCompositePodGroupName",
                      .value = shorten(object.parent),
                      .message = "composite groups are not read; this group stands for itself"});
  }
  const bool speaks = object.priority.priority || !object.priority.priority_class.empty();
  if (speaks || object.workload.empty()) return;  // It needs nothing from its Workload.
  // No field: the name may stand in workloadRef or in podGroupTemplateRef.
  if (claims.workload(index) == nullptr) {
    findings.warning({.object = group_text(cluster, index),
                      .message = fmt::format("its Workload {} is not in the input; the group has "
                                             "the default priority",
                                             shorten(object.workload)),
                      .remedy = "add it (kubectl get workloads -A -o yaml)"});
  } else if (!object.template_name.empty() && claims.template_of(index) == nullptr) {
    findings.warning(
        {.object = group_text(cluster, index),
         .message = fmt::format("its Workload {} has no template {}", shorten(object.workload),
                                shorten(object.template_name)),
         .remedy = "correct the name"});
  }
}

void lint_members(Findings& findings, GroupIndex index) {
  const Cluster& cluster = findings.cluster();
  const Unit& unit = cluster.units()[cluster.groups()[index].unit];
  if (unit.gang && unit.minimum > unit.size) {
    findings.warning({.object = group_text(cluster, index),
                      .field = "spec.schedulingPolicy.gang.minCount",
                      .value = fmt::format("{}", unit.minimum),
                      .message = fmt::format("fewer pods exist ({}): it cannot start", unit.size),
                      .remedy = "create the missing pods or lower the minimum"});
  }
}

/// The object of the group that is in quarantine, the group's own or its Workload; empty: none.
std::string quarantined_object(const Cluster& cluster, GroupIndex index,
                               const Quarantine& quarantine) {
  if (quarantine.empty()) return {};
  const Group& group = cluster.groups()[index];
  const std::string_view name = cluster.text(group.name);
  const ObjectKeyView workload{.namespace_name = cluster.text(group.namespace_name),
                               .name = name.substr(0, name.find('/')),
                               .plane = cluster.text(group.plane)};
  for (std::string text : {group_text(cluster, index), object_text("Workload", workload)}) {
    if (quarantine.contains(text)) return text;
  }
  return {};
}

}  // namespace

Problems mismatched_groups(const Cluster& cluster) {
  Problems problems;
  for (const GroupIndex index : cluster.groups_by_name()) {
    const Unit& unit = cluster.units()[cluster.groups()[index].unit];
    const std::string mismatch =
        unit.defined ? priority_mismatch_text(cluster, index) : std::string();
    if (mismatch.empty()) continue;
    Problem problem{.object = group_text(cluster, index),
                    .message = fmt::format("{}: {}; the group's priority applies",
                                           pods_not_matching_priority, mismatch),
                    .remedy = "give the pods the group's class"};
    const std::optional<PodGroup>& object = cluster.groups()[index].object;
    if (object && !object->priority.priority_class.empty()) {
      problem.field = "spec.priorityClassName";
      problem.value = shorten(object->priority.priority_class);
    } else if (object && object->priority.priority) {
      problem.field = "spec.priority";
      problem.value = fmt::format("{}", *object->priority.priority);
    }
    problems.push_back(std::move(problem));
  }
  return problems;
}

Problems missing_groups(const Cluster& cluster, const Quarantine& quarantine) {
  Problems problems;
  for (const GroupIndex index : cluster.groups_by_name()) {
    const Group& group = cluster.groups()[index];
    if (cluster.units()[group.unit].defined) continue;
    std::vector<std::string> pods;
    pods.reserve(group.members.size() + group.strays.size());
    for (const PodIndex pod : group.members) pods.push_back(cluster.pod_key(pod));
    for (const PodIndex pod : group.strays) pods.push_back(cluster.pod_key(pod));
    const std::string bad = quarantined_object(cluster, index, quarantine);
    std::string message = fmt::format(
        "this group is {}, but {} {} it ({})", bad.empty() ? "not in the input" : "in quarantine",
        pods.size() == 1 ? "a pod" : fmt::format("{} pods", pods.size()),
        pods.size() == 1 ? "names" : "name", few_names(pods));
    if (!group.strays.empty()) message += "; bound pods count as lone pods of their own priority";
    if (!group.members.empty()) message += "; pending pods wait for the group";
    problems.push_back({.object = group_text(cluster, index),
                        .message = std::move(message),
                        .remedy = bad.empty() ? "add the PodGroup or its Workload"
                                              : fmt::format("correct {}", shorten(bad))});
  }
  return problems;
}

void doubt_claims(Findings& findings) {
  const Cluster& cluster = findings.cluster();
  const GroupClaims claims(cluster);
  for (const GroupIndex index : cluster.groups_by_name()) {
    if (!cluster.groups()[index].object) continue;
    lint_claim(findings, claims.claims(index).front());
    doubt_references(findings, claims, index);
  }
  for (const Workload* workload : cluster.workloads()) {
    lint_claim(findings, stated_by(*workload));
    for (const GroupTemplate& entry : workload->templates) {
      lint_claim(findings, stated_by(*workload, entry));
    }
  }
}

void lint_groups(Findings& findings) {
  const Cluster& cluster = findings.cluster();
  for (const GroupIndex index : cluster.groups_by_name()) {
    if (cluster.units()[cluster.groups()[index].unit].defined) lint_members(findings, index);
  }
}

void lint_workloads(Findings& findings) {
  for (const Workload* workload : findings.cluster().workloads()) {
    for (const GroupTemplate& entry : workload->templates) {
      const PriorityClaim& first = workload->templates.front().priority;
      if (entry.priority.priority_class == first.priority_class &&
          entry.priority.priority == first.priority) {
        continue;
      }
      findings.warning(
          {.object = object_text(*workload),
           .field = fmt::format("spec.podGroupTemplates[{}].priorityClassName", entry.name),
           .value = shorten(entry.priority.priority_class),
           .message = fmt::format("template {} has another priority; Makeway reads "
                                  "both, an API server refuses them",
                                  workload->templates.front().name),
           .remedy = "give all templates the same class"});
    }
  }
}

void lint_marks(Findings& findings, PodIndex pod) {
  const Cluster& cluster = findings.cluster();
  const Unit& unit = cluster.units()[cluster.pods().unit[pod]];
  const bool grouped = unit.kind == UnitKind::group;
  const std::string& preemption_class =
      cluster.notes(cluster.pods().notes[pod]).preemption_priority_class;
  if (cluster.pods().flags[pod].is_protected && (!grouped || unit.mode == DisruptionMode::all)) {
    findings.warning({.object = "Pod " + cluster.pod_key(pod),
                      .field = annotation_field(names::protected_member),
                      .value = "true",
                      .message = grouped ? "its group leaves whole, so the mark means nothing"
                                         : "it belongs to no group; the mark is for members",
                      .remedy = fmt::format("what must never leave says {}: \"false\"",
                                            names::allow_preemption)});
  }
  const PriorityClass* const named =
      cluster.find_priority_class(preemption_class, cluster.text(cluster.pods().plane[pod]));
  if (grouped && named != nullptr && named->value != unit.preemption_priority) {
    findings.warning(
        {.object = "Pod " + cluster.pod_key(pod),
         .field = annotation_field(names::preemption_priority_class),
         .value = shorten(preemption_class),
         .message = fmt::format("the pod belongs to {}, whose preemption priority ({}) "
                                "counts",
                                group_text(cluster, unit.group), unit.preemption_priority),
         .remedy = "set the annotation on the group"});
  }
}

}  // namespace makeway
