// The knobs of src/policies/session.
#include "model/knob_tables.hpp"

namespace makeway::knob_tables {
namespace {

using Session = SessionSettings;
constexpr auto session = &Configuration::session;
constexpr Limits session_priorities = {.minimum = 0, .maximum = 100};

constexpr std::array session_rows = {
    plain<session, &Session::enabled>(
        {"session.enabled", "6",
         "Sessions are scheduled in their resource groups. Off: sessions are not read."}),
    integer<session, &Session::default_priority>(
        {"session.defaultPriority", "6", "The priority of a session that states none."},
        session_priorities),
    integer<session, &Session::preemptible_priority>(
        {"session.preemptiblePriority", "6",
         "Running sessions of this priority or lower may be preempted; a resource group may state "
         "its own."},
        session_priorities),
    choice<session, &Session::preemption_order>(
        {"session.preemptionOrder", "6",
         "Which of several sessions of equal priority leaves first; fewest takes the set with the "
         "fewest sessions. A resource group may state its own."}),
    integer<session, &Session::max_preemptions>(
        {"session.maxPreemptions", "6",
         "After this many preemptions a session is protected; 0 never protects."},
        {.minimum = 0, .maximum = 1'000'000}),
    plain<session, &Session::backoff_first>(
        {"session.backoffFirst", "6",
         "How long a preempted session stays off the queue the first time; doubled each time."}),
    plain<session, &Session::backoff_max>(
        {"session.backoffMax", "6", "The upper limit of the doubled back-off."}),
};

}  // namespace

std::span<const Knob> session_knobs() { return session_rows; }

}  // namespace makeway::knob_tables
