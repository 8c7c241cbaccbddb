// A plan as a page for a browser (page/page.hpp): nodes as bars by priority, leaving and arriving
// pods, and the reasons. web/src/plan.tsx draws it.
//
// Its size is bounded: nodes are sums by priority, pods are named on nodes that the plan touches
// only, and of very many asks those that preempt or find no place come first; the page says
// what it leaves out.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "control/shown_kernels.hpp"
#include "model/cluster.hpp"
#include "model/configuration.hpp"
#include "model/plan.hpp"

namespace makeway::cli {

// The nodes of a plan as a page draws them: what holds each, by priority, and what becomes of it.

/// What the plan makes of a pod; in the order in which bars show them.
enum class PodFate : std::uint8_t { stays, leaving, goes, comes };

/// Amounts of the resources that a page shows.
using PageAmounts = std::vector<std::int64_t>;

struct PagePod {
  std::string name;
  std::int32_t priority = 0;
  PodFate fate = PodFate::stays;
  PageAmounts amounts;
};

/// Pods of a node with one fate and priority.
struct PageSegment {
  std::int64_t pods = 0;
  PageAmounts amounts;
};

struct PageNode {
  std::string name;  ///< "n1", of another plane "east:n1".
  bool unschedulable = false;
  bool touched = false;  ///< A pod leaves, arrives or is waited for here.
  PageAmounts room;
  /// By fate, then highest priority first.
  std::map<std::pair<PodFate, std::int64_t>, PageSegment> segments;
  std::vector<PagePod> pods;  ///< Only if pods are shown; most important first, arriving pods last.
};

class PageNodes {
 public:
  static constexpr std::size_t resources_max = 4;
  static constexpr std::size_t pods_shown_max = 20'000;

  PageNodes(const Plan& plan, const Cluster& cluster, const Configuration& configuration);

  /// cpu, memory, and others that some node has, by name.
  const std::vector<ResourceIndex>& resources() const { return resources_; }
  const std::vector<PageNode>& nodes() const { return nodes_; }  ///< By plane and name.

  static std::string name_of(std::string_view name, std::string_view plane);

 private:
  void choose_resources();
  void mark_victims(const Plan& plan);
  void mark_victim(std::string_view namespace_name, std::string_view name, std::string_view plane);
  void mark_touched(const Plan& plan);
  void list(NodeIndex index);
  void add_placed_pods(const Plan& plan);
  void add_claims(const PlanAsk& ask);
  void comes(std::string_view node, std::string_view plane, PagePod pod);
  void add(PageNode& node, PagePod pod);
  PageAmounts amounts_of(RequestId requests) const;

  const Cluster& cluster_;
  ShownKernels kernels_;
  std::vector<ResourceIndex> resources_;
  std::set<PodIndex> victims_;
  std::set<std::string> touched_;
  std::vector<PageNode> nodes_;
  std::map<std::string, std::size_t, std::less<>> by_name_;
  std::size_t pods_shown_ = 0;
  bool shows_all_ = false;  ///< The cluster is small: pods of every node are shown.
};

/// The JSON of the page. The plan was made for this cluster by these rules.
std::string plan_page_json(const Plan& plan, const Cluster& cluster,
                           const Configuration& configuration);
std::string plan_page(const Plan& plan, const Cluster& cluster, const Configuration& configuration);

}  // namespace makeway::cli
