#include "support/short_cluster.hpp"

#include <utility>

#include "base/check.hpp"
#include "codec/load.hpp"
#include "model/find_resource.hpp"
#include "support/short_notation.hpp"

namespace makeway {
namespace {

Cluster load_short(std::string_view text) {
  Result<std::string> yaml = expand_short_notation(text);
  CHECK(yaml, yaml.error().message);
  LoadResult result = load_text(*yaml, "short.yaml");
  for (const Problem& problem : result.problems) {
    CHECK(result.loaded, problem.object + " " + problem.field + ": " + problem.message);
  }
  return std::move(result.loaded->cluster);
}

struct ShortName {
  std::string_view namespace_name = "default";
  std::string_view name;
};

ShortName split_name(std::string_view text) {
  const std::size_t slash = text.find('/');
  if (slash == std::string_view::npos) return {.name = text};
  return {.namespace_name = text.substr(0, slash), .name = text.substr(slash + 1)};
}

}  // namespace

ShortCluster::ShortCluster(std::string_view text, Configuration rules)
    : cluster(load_short(text)), configuration(std::move(rules)) {}

PodIndex ShortCluster::pod(std::string_view name) const {
  const ShortName key = split_name(name);
  const std::optional<PodIndex> found = cluster.find_pod(key.namespace_name, key.name);
  CHECK(found, name);
  return *found;
}

std::vector<PodIndex> ShortCluster::pods(std::initializer_list<std::string_view> names) const {
  std::vector<PodIndex> found;
  for (const std::string_view name : names) found.push_back(pod(name));
  return found;
}

NodeIndex ShortCluster::node(std::string_view name) const {
  const std::optional<NodeIndex> found = cluster.find_node(name);
  CHECK(found, name);
  return *found;
}

UnitIndex ShortCluster::unit(std::string_view name) const {
  const ShortName key = split_name(name);
  const std::optional<GroupIndex> group = cluster.find_group(key.namespace_name, key.name);
  return group ? cluster.groups()[*group].unit : cluster.pods().unit[pod(name)];
}

ResourceIndex ShortCluster::resource(std::string_view name) const {
  const std::optional<ResourceIndex> found = find_resource(cluster.resources(), name);
  CHECK(found, name);
  return *found;
}

std::string ShortCluster::names(std::span<const PodIndex> pods) const {
  std::string text;
  for (const PodIndex pod : pods) text += (text.empty() ? "" : " ") + name(pod);
  return text;
}

std::string ShortCluster::name(PodIndex pod) const {
  if (!pod.exists()) return "-";
  std::string key = cluster.pod_key(pod);
  constexpr std::string_view common = "default/";
  return key.starts_with(common) ? key.substr(common.size()) : key;
}

std::string ShortCluster::name(NodeIndex node) const {
  return node.exists() ? std::string(cluster.text(cluster.nodes().name[node])) : "-";
}

}  // namespace makeway
