// The slot numbers of the store. A slot number means nothing: ties go by namespace and name.
#pragma once

#include "base/index.hpp"
#include "model/resource.hpp"

namespace makeway {

struct PodTag;
struct NodeTag;
struct UnitTag;
struct GroupTag;
struct WorkloadTag;
struct BudgetTag;
struct LabelSetTag;
struct RequestTag;
struct ShapeTag;
struct TaintSetTag;
struct OwnersTag;
struct NotesTag;
struct NodeClassTag;

using PodIndex = Index<PodTag>;
using NodeIndex = Index<NodeTag>;
using UnitIndex = Index<UnitTag>;
using GroupIndex = Index<GroupTag>;
using WorkloadIndex = Index<WorkloadTag>;
using BudgetIndex = Index<BudgetTag>;
using LabelSetId = Index<LabelSetTag>;
using RequestId = Index<RequestTag>;
using ShapeId = Index<ShapeTag>;
using TaintSetId = Index<TaintSetTag>;
using OwnersId = Index<OwnersTag>;
using NotesId = Index<NotesTag>;
using NodeClassId = Index<NodeClassTag>;

}  // namespace makeway
