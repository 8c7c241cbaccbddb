// Brings objects into their canonical form: lists whose order has no meaning are sorted, repeated
// entries and zero amounts are removed, and what a bound pod cannot have (a nomination, needs that
// only matter before binding) is dropped. Idempotent. Equal meaning becomes equal value.
#pragma once

#include "model/objects.hpp"

namespace makeway {

void normalize(Labels& labels);
void normalize(Amounts& amounts);
void normalize(LabelSelector& selector);
void normalize(PodShape& shape);

// Every kind of model/kinds.hpp; of some nothing can be written in two ways.
void normalize(Namespace& object);
inline void normalize(PriorityClass& /*object*/) {}
void normalize(Node& node);
void normalize(StorageClass& object);
void normalize(PersistentVolume& volume);
inline void normalize(PersistentVolumeClaim& /*claim*/) {}
void normalize(CsiNode& object);
void normalize(ResourceClaim& claim);
void normalize(DisruptionBudget& budget);
void normalize(Workload& workload);
inline void normalize(PodGroup& /*group*/) {}
void normalize(Queue& queue);
void normalize(ResourceGroup& group);
void normalize(Partition& partition);
void normalize(Session& session);
void normalize(Pod& pod);

}  // namespace makeway
