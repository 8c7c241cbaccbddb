// The knobs that only a live run obeys (SPEC section 8).
#include "model/knob_tables.hpp"

namespace makeway::knob_tables {
namespace {

using Live = LiveSettings;
constexpr auto live = &Configuration::live;

constexpr std::array live_rows = {
    plain<live, &Live::cause_names>(
        {"live.causeNames", "8",
         "Conditions, events and statuses name objects of other namespaces. Otherwise a "
         "victim's texts name only kind and uid of the ask, and an ask's texts no victim: the "
         "names may belong to another tenant."}),
    of_ask(integer<live, &Live::max_evictions_per_minute>(
        {"live.maxEvictionsPerMinute", "8",
         "The maximum number of evictions per minute, for each profile and each namespace. Further "
         "evictions wait and report that; the allowance is empty when a process starts."},
        {.minimum = 1, .maximum = 1'000'000})),
    plain<live, &Live::evict_again_window>(
        {"live.evictAgainWindow", "8",
         "An ask that has evicted pods may evict others only after this time; until then it waits, "
         "reports that and is counted. Another pod may take its room each time. 0s: no such "
         "brake."}),
    plain<live, &Live::capacity_grace>(
        {"live.capacityGrace", "8",
         "For this long no pod is evicted for a queue after the capacity of an existing node "
         "dropped: a device plugin that restarts offers it again. 0s: no such brake."}),
    plain<live, &Live::gang_bind_timeout>(
        {"live.gangBindTimeout", "8",
         "How long the members of a partly bound gang may wait for the rest before "
         "live.gangRollback applies. A new plan for the rest is made meanwhile, and afterwards."}),
    choice<live, &Live::gang_rollback>(
        {"live.gangRollback", "8",
         "What becomes of the members of a gang that were bound when the rest was not within "
         "live.gangBindTimeout: they stay and the gang is finished later (none), or they are "
         "deleted, because a bind cannot be undone (delete)."}),
    plain<live, &Live::lease_duration>(
        {"live.leaseDuration", "8",
         "After this time without a renewal another process may lead. Renewals give up at 10/15 of "
         "it, writes stop at 8/15, and each write has 5/15 at the server."}),
};

}  // namespace

std::span<const Knob> live_knobs() { return live_rows; }

}  // namespace makeway::knob_tables
