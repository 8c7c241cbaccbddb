#include "codec/unknown_fields.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "model/knobs.hpp"

namespace makeway {
namespace {

/// A type, its fields, and the types of those that are looked into. A list has the type of its
/// items.
constexpr std::string_view types_text = R"(
Pod: apiVersion kind metadata=Metadata spec=PodSpec status=PodStatus
Node: apiVersion kind metadata=Metadata spec=NodeSpec status=NodeStatus
PriorityClass: apiVersion kind metadata=Metadata value globalDefault description
  preemptionPolicy
PodDisruptionBudget: apiVersion kind metadata=Metadata spec=BudgetSpec status
Metadata: name generateName namespace selfLink uid resourceVersion generation creationTimestamp
  deletionTimestamp deletionGracePeriodSeconds labels annotations ownerReferences=Owner
  finalizers managedFields clusterName
Owner: apiVersion kind name uid controller blockOwnerDeletion
PodSpec: volumes initContainers=Container containers=Container ephemeralContainers restartPolicy
  terminationGracePeriodSeconds activeDeadlineSeconds dnsPolicy nodeSelector serviceAccountName
  serviceAccount automountServiceAccountToken nodeName hostNetwork hostPID hostIPC hostUsers
  shareProcessNamespace securityContext imagePullSecrets hostname hostnameOverride subdomain
  setHostnameAsFQDN affinity=Affinity schedulerName tolerations=Toleration hostAliases
  priorityClassName priority preemptionPolicy dnsConfig readinessGates runtimeClassName
  enableServiceLinks overhead topologySpreadConstraints=Spread os schedulingGates=Named
  resourceClaims resources=Resources schedulingGroup=SchedulingGroup workloadRef=WorkloadRef
  evictionResponders
SchedulingGroup: podGroupName
WorkloadRef: name podGroup podGroupReplicaKey
Container: name image command args workingDir ports=Port envFrom env resources=Resources
  resizePolicy restartPolicy restartPolicyRules volumeMounts volumeDevices livenessProbe
  readinessProbe startupProbe lifecycle terminationMessagePath terminationMessagePolicy
  imagePullPolicy securityContext stdin stdinOnce tty
Resources: requests limits claims
Port: name hostPort containerPort protocol hostIP
Named: name
Toleration: key operator value effect tolerationSeconds
Affinity: nodeAffinity=NodeAffinity podAffinity=PodAffinity podAntiAffinity=PodAffinity
NodeAffinity: requiredDuringSchedulingIgnoredDuringExecution=NodeSelector
  preferredDuringSchedulingIgnoredDuringExecution=PreferredNode
NodeSelector: nodeSelectorTerms=NodeTerm
NodeTerm: matchExpressions=Expression matchFields=Expression
PreferredNode: weight preference=NodeTerm
PodAffinity: requiredDuringSchedulingIgnoredDuringExecution=PodTerm
  preferredDuringSchedulingIgnoredDuringExecution=PreferredPod
PodTerm: labelSelector=LabelSelector topologyKey namespaces namespaceSelector=LabelSelector
  matchLabelKeys mismatchLabelKeys
PreferredPod: weight podAffinityTerm=PodTerm
LabelSelector: matchLabels matchExpressions=Expression
Expression: key operator values
Spread: maxSkew topologyKey whenUnsatisfiable labelSelector=LabelSelector minDomains
  nodeAffinityPolicy nodeTaintsPolicy matchLabelKeys
PodStatus: observedGeneration phase conditions=Condition message reason nominatedNodeName hostIP
  hostIPs podIP podIPs startTime initContainerStatuses containerStatuses
  ephemeralContainerStatuses qosClass resize resourceClaimStatuses extendedResourceClaimStatus
  allocatedResources resources=Resources nodeAllocatableResourceClaimStatuses volumeHealth
Condition: type status reason message observedGeneration lastProbeTime lastHeartbeatTime
  lastTransitionTime
NodeSpec: podCIDR podCIDRs providerID unschedulable taints=Taint configSource externalID
  podPreemptionPolicy
Taint: key value effect timeAdded
NodeStatus: capacity allocatable phase conditions=Condition addresses daemonEndpoints nodeInfo
  images volumesInUse volumesAttached config runtimeHandlers features declaredFeatures
BudgetSpec: minAvailable maxUnavailable selector=LabelSelector unhealthyPodEvictionPolicy
)";

struct FieldType {
  std::vector<std::string_view> names;
  std::vector<std::string_view> types;  ///< Of each; empty: it is not looked into.
};
using FieldTypes = std::map<std::string_view, FieldType>;

const FieldTypes& field_types() {
  static const FieldTypes types = [] {
    FieldTypes made;
    FieldType* type = nullptr;
    std::string_view rest = types_text;
    while (true) {
      rest.remove_prefix(std::min(rest.find_first_not_of(" \n"), rest.size()));
      if (rest.empty()) return made;
      const std::string_view word = rest.substr(0, rest.find_first_of(" \n"));
      rest.remove_prefix(word.size());
      if (word.ends_with(':')) {
        type = &made[word.substr(0, word.size() - 1)];
        continue;
      }
      const std::size_t end = std::min(word.find('='), word.size());
      type->names.push_back(word.substr(0, end));
      type->types.push_back(word.substr(std::min(end + 1, word.size())));
    }
  }();
  return types;
}

/// Of one object; more say nothing new, and looking for what was meant costs time.
constexpr std::uint64_t warnings_max = 20;

class Search {
 public:
  /// A value of this type at `path`.
  void look_into(const JsonValue& value, std::string_view type, const std::string& path);
  void look_for_pod_specs(const JsonValue& value, const std::string& path);

  Problems take() { return std::move(found_); }

 private:
  template <class Visit>
  static void each_below(const JsonValue& value, const std::string& path, const Visit& visit);

  Problems found_;
};

/// Each member of an object with its name, each item of a list without one.
template <class Visit>
void Search::each_below(const JsonValue& value, const std::string& path, const Visit& visit) {
  if (const JsonValue::Object* const members = value.as_object()) {
    for (const JsonMember& each : *members) {
      visit(each.value, each.key, path.empty() ? each.key : fmt::format("{}.{}", path, each.key));
    }
  } else if (const JsonValue::Array* const items = value.as_array()) {
    for (std::size_t at = 0; at < items->size(); ++at) {
      visit((*items)[at], std::string_view{}, fmt::format("{}[{}]", path, at));
    }
  }
}

void Search::look_into(const JsonValue& value, std::string_view type, const std::string& path) {
  const FieldType& known = field_types().at(type);
  each_below(value, path, [&](const JsonValue& each, std::string_view key, const std::string& at) {
    if (key.empty()) return look_into(each, type, at);
    const auto name = std::ranges::find(known.names, key);
    if (name != known.names.end()) {
      const std::string_view below =
          known.types[static_cast<std::size_t>(name - known.names.begin())];
      if (!below.empty()) look_into(each, below, at);
      return;
    }
    if (found_.count() == warnings_max) return;
    const std::string_view nearest = nearest_of(known.names, key);
    found_.push_back({.severity = Severity::warning,
                      .field = at,
                      .message = "there is no such field, so it is ignored",
                      .remedy = nearest.empty() ? std::string("leave it out")
                                                : fmt::format("did you mean {}?", nearest)});
  });
}

void Search::look_for_pod_specs(const JsonValue& value, const std::string& path) {
  const JsonValue* const containers = value.find("containers");
  if (containers != nullptr && containers->as_array() != nullptr) {
    return look_into(value, "PodSpec", path);
  }
  each_below(value, path, [&](const JsonValue& each, std::string_view key, const std::string& at) {
    // Of a TrainJob: each entry has fields of its own beside those of a pod.
    if (key != "podSpecOverrides" && key != "podTemplateOverrides") look_for_pod_specs(each, at);
  });
}

}  // namespace

bool has_known_fields(std::string_view kind) { return field_types().contains(kind); }

Problems find_unknown_fields(std::string_view kind, const JsonValue& object) {
  const JsonValue* const metadata = object.find("metadata");
  if (metadata != nullptr && metadata->find("uid") != nullptr) return {};
  Search search;
  search.look_into(object, kind, "");
  return search.take();
}

Problems find_unknown_template_fields(const JsonValue& object) {
  Search search;
  search.look_for_pod_specs(object, "");
  return search.take();
}

}  // namespace makeway
