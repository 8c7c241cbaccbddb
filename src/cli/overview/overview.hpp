// The overview of a cluster for people: its objects, how full it is, what each priority could free.
//
// Everything is counted over the whole cluster; long lists are cut (the section says so) unless
// `all` is set. Nodes and budgets come by name, priorities, groups and pending pods the most
// important first. Costs O(pods + nodes * priorities shown), and sorting of what is listed.
#pragma once

#include <string>

#include "cli/palette.hpp"
#include "codec/load.hpp"
#include "model/configuration.hpp"

namespace makeway::cli {

struct OverviewOptions {
  bool all = false;
  Palette palette{false};
  Configuration configuration;  ///< Says which policies claim nodes.
};

std::string overview_text(const Loaded& loaded, const OverviewOptions& options);

}  // namespace makeway::cli
