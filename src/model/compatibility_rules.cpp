// The rows of model/compatibility.hpp: which fields of Configuration are rules.
#include "model/compatibility.hpp"
#include "model/knob_tables.hpp"

namespace makeway {
namespace compatibility_rules {
namespace {

using knob_tables::choice;
using knob_tables::choices;
using knob_tables::integer;
using knob_tables::of_ask;
using knob_tables::plain;
using Protection = ProtectionSettings;
using Workload = WorkloadSettings;
using Queue = QueueSettings;
using RequiredNode = RequiredNodeSettings;
using Session = SessionSettings;
constexpr auto protection = &Configuration::protection;
constexpr auto workload = &Configuration::workload;
constexpr auto queue = &Configuration::queue;
constexpr auto required_node = &Configuration::required_node;
constexpr auto session = &Configuration::session;

constexpr std::array all_rules = {
    plain<protection, &Protection::protect_mirror_pods>({"protection.protectMirrorPods", "1", ""}),
    plain<protection, &Protection::protect_opted_out>({"protection.protectOptedOut", "1", ""}),
    plain<protection, &Protection::pinned>({"protection.pinned", "1", ""}),
    choice<&Configuration::budgets, &BudgetSettings::counted_over>(
        {"budgets.countedOver", "2", ""}),
    choices<&Configuration::engine, &EngineSettings::laws_waived>({"engine.lawsWaived", "1", ""},
                                                                  true),
    of_ask(
        plain<workload, &Workload::honour_below_minimum>({"workload.honourBelowMinimum", "2", ""})),
    plain<workload, &Workload::protect_marked_members>({"workload.protectMarkedMembers", "2", ""}),
    choice<workload, &Workload::pods_not_matching_priority>(
        {"workload.podsNotMatchingPriority", "2", ""}),
    plain<workload, &Workload::honour_preemption_priority>(
        {"workload.honourPreemptionPriority", "2", ""}),
    of_ask(choice<workload, &Workload::group_domains>({"workload.groupDomains", "2", ""})),
    of_ask(choice<workload, &Workload::member_order>({"workload.memberOrder", "2", ""})),
    of_ask(choice<workload, &Workload::placement_guide>({"workload.placementGuide", "2", ""})),
    of_ask(integer<workload, &Workload::placements_max>({"workload.placementsMax", "2", ""},
                                                        {.minimum = 1, .maximum = 1'000})),
    of_ask(plain<workload, &Workload::start_from_simple_plans>(
        {"workload.startFromSimplePlans", "2", ""})),
    of_ask(choice<workload, &Workload::priority_search>({"workload.prioritySearch", "2", ""})),
    of_ask(choices<workload, &Workload::importance_keys>({"workload.importanceKeys", "2", ""})),
    of_ask(choice<workload, &Workload::victim_choice>({"workload.victimChoice", "2", ""})),
    of_ask(choice<workload, &Workload::put_back>({"workload.putBack", "2", ""})),
    of_ask(choice<workload, &Workload::put_back_scope>({"workload.putBackScope", "2", ""})),
    choice<workload, &Workload::leaving_room>({"workload.leavingRoom", "1", ""}),
    choice<workload, &Workload::nomination_held_by>({"workload.nominationHeldBy", "1", ""}),
    of_ask(choice<workload, &Workload::score_priority>({"workload.scorePriority", "2", ""})),
    choice<queue, &Queue::evict_up_to>({"queue.evictUpTo", "3", ""}),
    choice<queue, &Queue::excess_leaves>({"queue.excessLeaves", "3", ""}),
    plain<required_node, &RequiredNode::honour_preemption_policy>(
        {"required_node.honourPreemptionPolicy", "5", ""}),
    choices<required_node, &RequiredNode::pinned_by>({"required_node.pinnedBy", "5", ""}, true),
    plain<required_node, &RequiredNode::allow_higher_priority>(
        {"required_node.allowHigherPriority", "5", ""}),
    choice<required_node, &RequiredNode::candidates_hold>(
        {"required_node.candidatesHold", "5", ""}),
    choice<required_node, &RequiredNode::class_steps>({"required_node.classSteps", "5", ""}),
    choice<required_node, &RequiredNode::multiple_order>({"required_node.multipleOrder", "5", ""}),
    choice<required_node, &RequiredNode::coverage>({"required_node.coverage", "5", ""}),
    plain<required_node, &RequiredNode::refuse_negative_room>(
        {"required_node.refuseNegativeRoom", "5", ""}),
    choice<required_node, &RequiredNode::leaving_room>({"required_node.leavingRoom", "1", ""}),
    choice<required_node, &RequiredNode::put_back>({"required_node.putBack", "5", ""}),
    choice<session, &Session::preemptors>({"session.preemptors", "6", ""}),
    choice<session, &Session::put_back>({"session.putBack", "6", ""}),
    choice<session, &Session::resume_batch>({"session.resumeBatch", "6", ""}),
    choice<session, &Session::resume_inference>({"session.resumeInference", "6", ""}),
    choice<session, &Session::resume_interactive>({"session.resumeInteractive", "6", ""}),
};

}  // namespace
}  // namespace compatibility_rules

std::span<const Knob> rules() { return compatibility_rules::all_rules; }

}  // namespace makeway
