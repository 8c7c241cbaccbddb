// One object of a cluster by its key, as a Change: for callers that keep earlier versions.
#pragma once

#include <optional>
#include <string>
#include <tuple>

#include "model/cluster.hpp"
#include "model/object_ref.hpp"
#include "model/objects.hpp"

namespace makeway {

/// Kind, plane, namespace, name: what a change is about.
using ChangeKey = std::tuple<ObjectKind, std::string, std::string, std::string>;

ChangeKey key_of_change(const Change& change);
/// None: nothing is written about objects of that kind.
std::optional<RefKind> ref_kind(ObjectKind kind);
/// Where the store has the object; none: the store does not keep that kind.
std::optional<ChangeKey> store_key(const ObjectRef& ref);

/// A Removal where there is none. O(log n); of a Workload or PriorityClass O(number of these).
Change object_at(const Cluster& cluster, const ChangeKey& key);

}  // namespace makeway
