// What is wrong with a cluster as a whole, although each object is fine by itself.
//
// `find_errors` finds what cannot be decided and must be refused (law 13); it costs O(units) and
// runs on every load. `find_cap_errors` finds what this cluster's administrator forbids
// (workload.preemptionPriorityAboveMax, From, To); it costs O(pods), once per configuration. `lint`
// finds what is legal and probably not meant; `makeway check` runs it. Those that change which pods
// leave are reported with every plan: doubts.hpp. Problems come in the order of kind, namespace and
// name, without an origin: the store does not know files.
#pragma once

#include <span>
#include <vector>

#include "base/problem.hpp"
#include "model/cluster.hpp"
#include "model/configuration.hpp"
#include "model/findings.hpp"

namespace makeway {

Problems find_errors(const Cluster& cluster);
Problems find_cap_errors(const Cluster& cluster, const Configuration& configuration);
/// All of their errors, not only the first hundred.
std::vector<Problem> list_errors(const Cluster& cluster);
std::vector<Problem> list_cap_errors(const Cluster& cluster, const Configuration& configuration);
/// `templates`: of pods that may come, though they are not there.
Problems lint(const Cluster& cluster, std::span<const TemplateLabels> templates = {},
              LintFor use = LintFor::files);
/// The part of it that is about objects of our kinds and changes only with them, and with nodes: no
/// pods, no statuses. O(nodes * resource groups + queues + sessions).
Problems lint_own_kinds(const Cluster& cluster);

}  // namespace makeway
