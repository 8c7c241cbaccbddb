// LiveView over random worlds that change: what it shows, batch by batch, is what the steps of
// quarantine and trust make of the whole cluster (law 13, SPEC section 10), whatever came in which
// order.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "codec/dump.hpp"
#include "codec/presets.hpp"
#include "control/live_view.hpp"
#include "judge/check_plan.hpp"
#include "model/names.hpp"
#include "model/normalize.hpp"
#include "policies/decide.hpp"
#include "support/property.hpp"
#include "support/random_planning.hpp"
#include "support/random_world.hpp"

namespace makeway::live_view_properties {
namespace {

using Objects = std::map<ChangeKey, Change>;

bool is_at_home(const Change& object) { return std::get<1>(key_of_change(object)).empty(); }

/// What a tenant or an administrator may do to an object.
void edit(Change& object, Prng& random) {
  if (Pod* const pod = std::get_if<Pod>(&object)) {
    switch (random.below(7)) {
      case 0: pod->opted_out = !pod->opted_out; break;
      case 1: pod->is_protected = !pod->is_protected; break;
      case 2: pod->notes.preemption_cost_seconds = random.between(0, 1'000'000'000); break;
      case 3: pod->priority = static_cast<std::int32_t>(random.between(0, 100)); break;
      case 4: pod->scheduler = random.chance(50) ? "makeway" : ""; break;
      case 5: pod->notes.required_node = random.chance(50) ? "node-0" : ""; break;
      default: pod->notes.preemption_priority_class = random.chance(50) ? "highest" : ""; break;
    }
    normalize(*pod);
  } else if (PodGroup* const group = std::get_if<PodGroup>(&object)) {
    group->opted_out = !group->opted_out;
    group->preemption_cost_seconds = random.between(0, 1'000'000'000);
  } else if (Namespace* const space = std::get_if<Namespace>(&object)) {
    space->labels.clear();
    if (random.chance(50)) space->labels = {{std::string(names::trusted), "true"}};
  } else if (Queue* const queue = std::get_if<Queue>(&object)) {
    queue->namespaces.clear();
    if (random.chance(50)) queue->namespaces = {"default"};
  }
}

/// The same objects, more of them marked, with namespaces and a class to name.
Objects world_of(Prng& random, const RandomWorldCase& item) {
  Objects objects;
  std::set<std::string> spaces;
  for (const Change& object : item.objects) {
    if (!is_at_home(object)) continue;
    Change edited = object;
    if (random.chance(30)) edit(edited, random);
    spaces.insert(std::get<2>(key_of_change(edited)));
    objects[key_of_change(edited)] = std::move(edited);
  }
  for (const std::string& name : spaces) {
    if (name.empty()) continue;
    Change space = Namespace{.name = name};
    edit(space, random);
    objects[key_of_change(space)] = std::move(space);
  }
  Change highest = PriorityClass{.name = "highest", .value = 1'000'000};
  objects[key_of_change(highest)] = std::move(highest);
  return objects;
}

/// Classes that caps were made of may outlive the pods they were made for.
std::string text_of_world(Cluster& cluster) {
  std::vector<std::string> caps;
  for (const PriorityClass* const each : cluster.priority_classes()) {
    if (each->name.starts_with("cap-")) caps.push_back(each->name);
  }
  for (const std::string& name : caps) {
    cluster.apply(Removal{.kind = ObjectKind::priority_class, .namespace_name = {}, .name = name});
  }
  return dump(cluster, DumpFormat::yaml);
}

/// SPEC section 8: without a template there is no pod to create for its kernel.
bool has_nothing_to_start(const Session& session) {
  const bool has_begun = session.status.phase == SessionPhase::running ||
                         session.status.phase == SessionPhase::suspended;
  return !has_begun && std::ranges::any_of(session.kernels, [](const Kernel& kernel) {
    return kernel.pod_template.empty();
  });
}

std::string expected_text(const Objects& objects, const Configuration& configuration, Time now) {
  Cluster cluster;
  for (const auto& [key, object] : objects) {
    Change shown = object;
    if (const Session* const session = std::get_if<Session>(&shown)) {
      if (has_nothing_to_start(*session)) continue;
    }
    if (Pod* const pod = std::get_if<Pod>(&shown)) {
      pod->kept = pod->scheduler == "makeway" ? KeptBy::none : KeptBy::other_scheduler;
    }
    cluster.apply(shown);
  }
  Quarantine quarantine;
  quarantine_errors(cluster, quarantine);
  apply_trust(
      cluster, configuration,
      {.has_daemon_set = [](std::string_view, std::string_view name) { return name == "agent"; },
       .now = now,
       .decides_kept = true});
  return text_of_world(cluster);
}

/// What is decided on what is shown keeps the laws, and leaves pods of other schedulers alone.
void expect_safe(const Cluster& cluster, const Configuration& configuration, Time now) {
  const Decision decision =
      decide(cluster, configuration, {.now = now, .preset = "live", .explain = false});
  if (!decision.plan) return;
  for (const LawBreach& breach : check_plan(cluster, configuration, *decision.plan)) {
    ADD_FAILURE() << breach.ask << ": " << breach.text << "\n" << dump(cluster, DumpFormat::yaml);
  }
  for (const PlanAction& action : decision.plan->actions) {
    const auto pod = cluster.find_pod(action.namespace_name, action.name);
    if (action.type != ActionType::evict || !pod) continue;
    EXPECT_EQ(cluster.pods().flags[*pod].kept, KeptBy::none) << action.name;
  }
}

TEST(LiveViewProperties, ShowsWhatTheWholeStepWouldShow) {
  for_each_case("live view: batch by batch as at once", [](Prng& random) {
    const RandomWorldCase item = random_world_case(random);
    Objects objects = world_of(random, item);
    Configuration configuration = *load_preset(item.preset);
    configuration.trust.mode = TrustMode::cluster;
    configuration.trust.namespaces = {"kube-system"};
    if (random.chance(20)) configuration.trust.outside_queues = TrustedOnly::trusted;
    LiveView view(configuration, {.schedulers = {"makeway"}});
    std::vector<Change> waiting;
    for (const auto& [key, object] : objects) waiting.push_back(object);
    random.shuffle(waiting);
    Cluster shown;
    Time now = planning_now;
    const auto take = [&](std::vector<Change> batch, const LiveUpdates& updates) {
      for (const Change& change : view.show(std::move(batch), updates, now)) shown.apply(change);
    };
    take({}, {.daemon_sets = {{"kube-system", "agent"}, {"default", "agent"}}});
    while (!waiting.empty()) {
      const std::size_t size = 1 + random.below(waiting.size());
      take({waiting.end() - static_cast<std::ptrdiff_t>(size), waiting.end()}, {});
      waiting.resize(waiting.size() - size);
    }
    for (std::uint64_t edits = random.below(20); edits > 0 && !objects.empty(); --edits) {
      auto at =
          std::next(objects.begin(), static_cast<std::ptrdiff_t>(random.below(objects.size())));
      if (random.chance(20)) {
        const auto& [kind, plane, space, name] = at->first;
        take({Removal{.kind = kind, .namespace_name = space, .name = name}}, {});
        objects.erase(at);
      } else {
        edit(at->second, random);
        take({at->second}, {});
      }
    }
    // A stated cost is limited by a run time that grows; it is looked at once a minute.
    now = now + Duration{60'000};
    take({}, {});
    expect_safe(shown, configuration, now);
    EXPECT_EQ(text_of_world(shown), expected_text(objects, configuration, now));
  });
}

}  // namespace
}  // namespace makeway::live_view_properties
