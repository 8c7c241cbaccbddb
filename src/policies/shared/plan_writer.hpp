// The words of a plan: every sentence that policies put into one is made here, from a reason
// (model/reason.hpp) and the cluster, which knows the names of slots.
//
// A template is the English of a code. In it
//   {0}           is the first argument: "Pod shop/web", "n1", "12", "2Gi", "5m";
//   {0:key}       an object without its kind: "shop/web";
//   {0:name}      an object without its namespace: "web";
//   {0:,} {0:;}   reasons, joined by ", " or "; ", and {0:+} by " + ";
//   {0:percent}   a number of millionths: "12.5 %";
//   {0|pod|pods}  the first word if the argument is 1, else the second.
#pragma once

#include <string>
#include <string_view>

#include "model/cluster.hpp"
#include "model/plan.hpp"
#include "model/reason.hpp"

namespace makeway {

Sentence write_reason(const Cluster& cluster, const Reason& reason);
/// Where a plan has only a text: what is shown to the operators of a cluster and to no tenant.
std::string write_text(const Cluster& cluster, const Reason& reason);

/// Why the ask is decided as it is.
void set_reason(const Cluster& cluster, PlanAsk& ask, const Reason& reason);
/// More of it.
void add_reason(const Cluster& cluster, PlanAsk& ask, const Reason& reason);

/// As it was set: to say it elsewhere, too.
Sentence reason_sentence(const PlanAsk& ask);

ObjectName object_of(const PlanAsk& ask);
/// "short of nvidia.com/gpu by at least 2"
Sentence refusal_sentence(const PlanRefusal& refusal);
/// "12.5 %", rounded up.
std::string percent_text(std::int64_t ppm);

}  // namespace makeway
