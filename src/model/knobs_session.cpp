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
    choice<session, &Session::preemptors>(
        {"session.preemptors", "6",
         "The one pending session that may preempt: the first that does not fit and that "
         "preemption can help (first-helped), or the first that does not fit at all "
         "(head-only)."}),
    choice<session, &Session::put_back>(
        {"session.putBack", "6",
         "Victims that are not needed are put back: not at all (none), in one pass (once), or "
         "until nothing changes (until-stable)."}),
    choice<session, &Session::leaving_room>(
        {"session.leavingRoom", "1",
         "Leaving sessions free their room for the ask (credited), hold it until they are gone "
         "(occupied), or are candidates like any other session (victims)."}),
    integer<session, &Session::max_preemptions>(
        {"session.maxPreemptions", "6",
         "After this many preemptions a session is protected; 0 never protects."},
        {.minimum = 0, .maximum = 1'000'000}),
    choice<session, &Session::resume_batch>(
        {"session.resumeBatch", "6",
         "When a preempted batch session becomes pending again: never, when it declares "
         "checkpointing or requeue, or when a user requests it."}),
    choice<session, &Session::resume_inference>(
        {"session.resumeInference", "6",
         "The same for inference without an autoscaler (declared by requeue); one with an "
         "autoscaler is left to it."}),
    choice<session, &Session::resume_interactive>(
        {"session.resumeInteractive", "6", "The same for interactive sessions."}),
    plain<session, &Session::backoff_first>(
        {"session.backoffFirst", "6",
         "How long a preempted session stays off the queue the first time; doubled each time."}),
    plain<session, &Session::backoff_max>(
        {"session.backoffMax", "6", "Where the doubling of backoffFirst ends."}),
};

}  // namespace

std::span<const Knob> session_knobs() { return session_rows; }

}  // namespace makeway::knob_tables
