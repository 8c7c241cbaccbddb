// What the knobs of a configuration mean for the parts of a live run, said in one place.
#pragma once

#include <string>
#include <vector>

#include "control/live_view.hpp"
#include "kube/actuator.hpp"
#include "kube/lease.hpp"
#include "kube/resources.hpp"
#include "model/configuration.hpp"

namespace makeway::kube {

/// The rules of a live run: knobs that have a second value for it have that one.
Configuration live_rules(Configuration configuration);

/// `live.leaseDuration`; the deadline of a write is a part of it.
LeaseTimes lease_times(const Configuration& configuration);

/// `instance` reports events: with the name of the host. `served` as the server was asked.
ActuatorSettings actuator_settings(const Configuration& configuration,
                                   const std::vector<ServedResource>& served, std::string instance);

/// `schedulers`: whose pods are ours.
LiveViewOptions view_options(std::vector<std::string> schedulers);

}  // namespace makeway::kube
