#include "model/object_at.hpp"

#include <algorithm>
#include <type_traits>
#include <variant>

namespace makeway {
namespace {

std::optional<Change> found_pod(const Cluster& cluster, const ObjectKeyView& key) {
  const auto pod = cluster.find_pod(key.namespace_name, key.name, key.plane);
  return pod ? std::optional<Change>(cluster.pod(*pod)) : std::nullopt;
}

std::optional<Change> found_group(const Cluster& cluster, const ObjectKeyView& key) {
  const auto group = cluster.find_group(key.namespace_name, key.name, key.plane);
  if (!group || !cluster.groups()[*group].object) return std::nullopt;
  return Change(*cluster.groups()[*group].object);
}

std::optional<Change> found_workload(const Cluster& cluster, const ObjectKeyView& key) {
  for (const Workload* const workload : cluster.workloads()) {
    if (key_of(*workload) == key) return Change(*workload);
  }
  return std::nullopt;
}

std::optional<Change> found_node(const Cluster& cluster, const ObjectKeyView& key) {
  const auto node = cluster.find_node(key.name, key.plane);
  if (!node || !cluster.nodes().flags[*node].exists) return std::nullopt;
  return Change(cluster.node(*node));
}

}  // namespace

ChangeKey key_of_change(const Change& change) {
  return std::visit(
      [](const auto& each) -> ChangeKey {
        using Each = std::decay_t<decltype(each)>;
        if constexpr (std::is_same_v<Each, Removal>) {
          return {each.kind, each.plane, each.namespace_name, each.name};
        } else {
          const ObjectKeyView key = key_of(each);
          return {row_of<Each>.kind, std::string(key.plane), std::string(key.namespace_name),
                  std::string(key.name)};
        }
      },
      change);
}

std::optional<RefKind> ref_kind(ObjectKind kind) {
  constexpr auto& names = choice_names<RefKind>;
  const auto* const found = std::ranges::find(names, row_of_kind(kind).name);
  if (found == names.end()) return std::nullopt;
  return static_cast<RefKind>(found - names.begin());
}

std::optional<ChangeKey> store_key(const ObjectRef& ref) {
  const auto* const found = std::ranges::find(kind_rows, choice_name(ref.kind), &KindRow::name);
  if (found == kind_rows.end()) return std::nullopt;
  return ChangeKey{found->kind, ref.plane, ref.namespace_name, ref.name};
}

Change object_at(const Cluster& cluster, const ChangeKey& key) {
  const auto& [kind, plane, namespace_name, name] = key;
  const ObjectKeyView view{.namespace_name = namespace_name, .name = name, .plane = plane};
  std::optional<Change> found;
  each_kind([&]<class Object>(KindTag<Object> /*tag*/) {
    if (row_of<Object>.kind != kind) return;
    if constexpr (MappedObject<Object>) {
      const ObjectMap<Object>& objects = cluster.own<Object>();
      const auto at = objects.find(view);
      if (at != objects.end()) found = at->second;
    } else if constexpr (std::is_same_v<Object, Pod>) {
      found = found_pod(cluster, view);
    } else if constexpr (std::is_same_v<Object, PodGroup>) {
      found = found_group(cluster, view);
    } else if constexpr (std::is_same_v<Object, Workload>) {
      found = found_workload(cluster, view);
    } else {
      found = found_node(cluster, view);
    }
  });
  if (found) return *std::move(found);
  return Removal{.kind = kind, .namespace_name = namespace_name, .name = name, .plane = plane};
}

}  // namespace makeway
