// Looking back: what the journal of a run tells the dashboard. Each reads the journal from its
// beginning, on the dashboard's desk, and stops where it knows enough.
#pragma once

#include <string>

#include "control/lawful_plan.hpp"
#include "server/http_server.hpp"

namespace makeway::cli {

/// `object=KIND/NAMESPACE/NAME`: the text of `makeway why --journal`, as {"text": ...}.
server::HttpReply why_recorded(const server::HttpRequest& request, const std::string& journal);

/// {"cycles":[[number, milliseconds, asks, 1 if the plan acts], ...]}, oldest first; of very many
/// the newest, and how many were left out.
server::HttpReply cycles_recorded(const server::HttpRequest& request, const std::string& journal);

/// `cycle=N`, and `preset=P`: the cluster as it was then with the plan of that cycle, and the plan
/// that the other preset would have made.
server::HttpReply cycle_recorded(const server::HttpRequest& request, const std::string& journal,
                                 const PlanTools& tools);

}  // namespace makeway::cli
