#include "support/disturber.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>
#include <variant>
#include <vector>

#include "model/names.hpp"

namespace makeway {

void Disturber::disturb(History& history) {
  const std::uint64_t count = random_.below(4);
  for (std::uint64_t i = 0; i < count; ++i) {
    switch (random_.below(10)) {
      case 0:
      case 1: finish_pod(history); break;
      case 2: delete_pod(history); break;
      case 3:
      case 4:
      case 5:
      case 6: submit_pods(history); break;
      case 7: cordon(history); break;
      case 8: add_node(history); break;
      default: remove_node(history); break;
    }
  }
}

// ---- Pods ---------------------------------------------------------------------------------------

std::optional<Pod> Disturber::running_pod(const History& history) {
  std::vector<Pod> pods = history.pods();
  std::erase_if(pods, [](const Pod& pod) { return pod.node.empty() || pod.deletion.has_value(); });
  if (pods.empty()) return std::nullopt;
  return random_.pick(pods);
}

void Disturber::finish_pod(History& history) {
  const std::optional<Pod> pod = running_pod(history);
  if (!pod) return;
  history.happens(
      Removal{.kind = ObjectKind::pod, .namespace_name = pod->namespace_name, .name = pod->name});
}

void Disturber::delete_pod(History& history) {
  std::optional<Pod> pod = running_pod(history);
  if (!pod) return;
  pod->deletion = history.now() + Duration{random_.between(0, 30) * 1000};
  pod->deletion_grace_seconds = 30;
  history.happens(*pod);
}

/// Pending pods of another random cluster; now and then the last of them comes as a group.
void Disturber::submit_pods(History& history) {
  for (const Change& object : random_planning(random_, options_)) {
    const auto* const pod = std::get_if<Pod>(&object);
    if (pod == nullptr || !pod->node.empty() || random_.chance(50)) continue;
    Pod submitted = *pod;
    submitted.name = fmt::format("new-{}", ++count_);
    submitted.uid = fmt::format("uid-new-{}", count_);
    submitted.created = history.now();
    submitted.nominated_node.clear();
    submitted.group.clear();
    if (options_.pending_members && random_.chance(25)) {
      submit_group(history, submitted);
    } else {
      history.happens(submitted);
    }
  }
}

void Disturber::submit_group(History& history, const Pod& like) {
  PodGroup group{.namespace_name = like.namespace_name,
                 .name = like.name + "-group",
                 .created = history.now()};
  const std::int64_t size = random_.between(1, 3);
  group.policy.gang = random_.chance(50);
  if (group.policy.gang) group.policy.minimum = static_cast<std::int32_t>(random_.between(1, size));
  group.policy.mode = random_.chance(50) ? DisruptionMode::all : DisruptionMode::single;
  group.priority.priority = like.priority;
  history.happens(group);
  for (std::int64_t i = 0; i < size; ++i) {
    Pod member = like;
    member.name = fmt::format("{}-{}", like.name, i);
    member.uid = fmt::format("{}-{}", like.uid, i);
    member.group = group.name;
    history.happens(member);
  }
}

// ---- Nodes --------------------------------------------------------------------------------------

std::optional<Node> Disturber::any_node(const History& history) {
  const std::vector<Node> nodes = history.nodes();
  if (nodes.empty()) return std::nullopt;
  return random_.pick(nodes);
}

void Disturber::cordon(History& history) {
  std::optional<Node> node = any_node(history);
  if (!node) return;
  node->unschedulable = !node->unschedulable;
  history.happens(*node);
}

void Disturber::add_node(History& history) {
  std::optional<Node> node = any_node(history);
  if (!node) return;
  node->name = fmt::format("node-new-{}", ++count_);
  for (Label& label : node->labels) {
    if (label.key == names::hostname) label.value = node->name;
  }
  node->created = history.now();
  history.happens(*node);
}

/// Its pods go with it.
void Disturber::remove_node(History& history) {
  const std::optional<Node> node = any_node(history);
  if (!node) return;
  for (const Pod& pod : history.pods()) {
    if (pod.node != node->name) continue;
    history.happens(
        Removal{.kind = ObjectKind::pod, .namespace_name = pod.namespace_name, .name = pod.name});
  }
  history.happens(Removal{.kind = ObjectKind::node, .namespace_name = {}, .name = node->name});
}

}  // namespace makeway
