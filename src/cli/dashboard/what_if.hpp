// What if this manifest were submitted now? The plan for it, on a copy of what the dashboard shows.
//
// Nothing is changed: the board's cluster is copied, the manifest's objects are added to the copy,
// and those of them that are pending are decided. Objects of the cluster that a manifest may refer
// to (priority classes, queues, resource groups, ...) are known to its reader.
#pragma once

#include "control/lawful_plan.hpp"
#include "server/board.hpp"
#include "server/http_server.hpp"

namespace makeway::cli {

/// The body is YAML or JSON; `preset=NAME` in the query: by the rules of that preset. The answer is
/// what the page of a plan is made of (plan/plan_page.hpp), with "notes" about documents that do
/// not count where there are any; or {"error": ...}.
server::HttpReply what_if(const server::HttpRequest& request, const server::Board& board,
                          const PlanTools& tools);

/// Why KIND/NAMESPACE/NAME waits, as far as the board knows: {"text": ...} or {"error": ...}.
server::HttpReply why_now(const server::HttpRequest& request, const server::Board& board,
                          const PlanTools& tools);

}  // namespace makeway::cli
