// A dump that can be given away: every name in it is another one.
//
// Names, namespaces, uids, values of labels, taints and selectors become numbers in the order of
// the texts, the same everywhere, so that a plan of the result is the same plan with other names:
// every order that ends in a name stays. Nothing can be guessed back, since nothing is computed
// from the text. Label keys, resources, amounts, priorities, times, and the names that Kubernetes
// itself gives a meaning to (kube-system, system-node-critical) stay.
#pragma once

#include "codec/json_value.hpp"

namespace makeway::cli {

/// Of a canonical dump.
void hide_names(JsonValue& dump);

}  // namespace makeway::cli
