// The knobs of trust: which marks on objects count (SPEC section 10).
#include "model/knob_tables.hpp"

namespace makeway::knob_tables {
namespace {

using Trust = TrustSettings;
constexpr auto trust = &Configuration::trust;

constexpr std::array trust_rows = {
    choice<trust, &Trust::mode>(
        {"trust.mode", "10",
         "Which marks on objects count: all of them (files), or those of the table in "
         "docs/security.md (cluster), because objects come from tenants. A live run and --trust "
         "live use cluster. The shorthand is trust=cluster."}),
    plain<trust, &Trust::namespaces>(
        {"trust.namespaces", "10",
         "Trusted namespaces, besides those with the label makeway.dev/trusted: \"true\". They "
         "matter where trust.mode is cluster or trust.outsideQueues is trusted."},
        true),
    choice<trust, &Trust::outside_queues>(
        {"trust.outsideQueues", "10",
         "Which pods may run in no queue where queues exist: all pods, or only those of trusted "
         "namespaces; the others are not placed."}),
};

}  // namespace

std::span<const Knob> trust_knobs() { return trust_rows; }

}  // namespace makeway::knob_tables
