// A tiny cluster in the short notation, for tests of single functions.
//
//   ShortWorld scene(R"(
//     node n1 gpu=4
//     pod low @n1 gpu=4 p=5
//   )");
//   EXPECT_EQ(scene.name(scene.world.after().node_of(scene.pod("low"))), "n1");
//
// Objects are known by their names, with the namespace in front where it is not `default`. A text
// that is wrong, and a name that is not there, end the test program.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/world.hpp"

namespace makeway {

/// 2026-01-01T12:00:00Z, of the day of which the notation's times are.
inline constexpr Time noon{1'767'268'800'000};
constexpr Time noon_plus(std::int64_t seconds) { return noon + Duration{seconds * 1000}; }

struct ShortCluster {
  explicit ShortCluster(std::string_view text, Configuration rules = {});

  PodIndex pod(std::string_view name) const;
  std::vector<PodIndex> pods(std::initializer_list<std::string_view> names) const;
  NodeIndex node(std::string_view name) const;
  /// The group of that name or, if there is none, the unit of the pod.
  UnitIndex unit(std::string_view name) const;
  ResourceIndex resource(std::string_view name) const;

  /// "a b", in the order of the list.
  std::string names(std::span<const PodIndex> pods) const;
  std::string name(PodIndex pod) const;
  /// Of a node; "-" for none.
  std::string name(NodeIndex node) const;

  Cluster cluster;
  Configuration configuration;
};

/// The same with the world of a cycle at noon.
struct ShortWorld : ShortCluster {
  explicit ShortWorld(std::string_view text, Configuration rules = {})
      : ShortCluster(text, std::move(rules)) {}

  World world{cluster, configuration, noon};
};

}  // namespace makeway
