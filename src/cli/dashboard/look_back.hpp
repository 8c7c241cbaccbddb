// Looking back: what the journal of a run tells the dashboard. Each reads the journal from its
// beginning, on the dashboard's desk, and stops where it knows enough, or where `ending` says so. A
// file is read whole, so one that is very large is refused, with the remedy.
#pragma once

#include <stop_token>
#include <string>

#include "control/lawful_plan.hpp"
#include "server/http_server.hpp"

namespace makeway::cli {

/// `object=KIND/NAMESPACE/NAME`: the text of `makeway why --journal`, as {"text": ...}.
server::HttpReply why_recorded(const server::HttpRequest& request, const std::string& journal,
                               const std::stop_token& ending = {});

/// {"cycles":[[number, milliseconds, asks, 1 if the plan acts], ...]}, oldest first; of very many
/// the newest, and how many were left out.
server::HttpReply cycles_recorded(const server::HttpRequest& request, const std::string& journal,
                                  const std::stop_token& ending = {});

/// `cycle=N`, and `preset=P`: the cluster as it was then with the plan of that cycle, and the plan
/// that the other preset would have made.
server::HttpReply cycle_recorded(const server::HttpRequest& request, const std::string& journal,
                                 const PlanTools& tools, const std::stop_token& ending = {});

/// Whether somebody can look back in it: a pipe or a device has forgotten what was written.
bool is_kept_journal(const std::string& journal);

/// Empty: it may be read. Else why not, and what to do.
std::string too_large_text(const std::string& journal, std::uint64_t bytes_max);

}  // namespace makeway::cli
