// What is legal, changes which pods leave, and is probably not what its author meant.
//
// `makeway plan` says it as well as `makeway check`: a pod whose group is not there, a priority
// that contradicts its class, a pin to a node that is not there, names under makeway.dev/ that have
// no reader. Warnings only. O(pods). Of each sort the first few are reported and the rest counted.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "base/problem.hpp"
#include "model/cluster.hpp"
#include "model/configuration.hpp"
#include "model/validation/quarantine.hpp"

namespace makeway {

/// Classes of victims in the configuration may be made of names that have no other reader. What is
/// missing because it is in quarantine is reported as such.
Problems find_doubts(const Cluster& cluster, const Configuration& configuration,
                     const Quarantine& quarantine = {});

/// What to do about a name under makeway.dev/ that means nothing: the most similar of the known
/// ones, or to leave it out.
std::string unknown_name_remedy(std::span<const std::string_view> known, std::string_view name);

}  // namespace makeway
