// Every policy against a hostile world (SPEC sections 2 to 6, laws 1 to 12): leaving pods stay, the
// wrong ones are removed and strangers take their room, plans are half carried out, and nodes,
// units and rules change between cycles (support/hostility.hpp). Every plan keeps the laws, no pod
// has to leave twice for the same ask without a cause, and once the world is friendly again
// everything comes to rest with every unit placed or with a reason.
//
// A tenth as many histories as other properties have cases: each is several dozen cycles.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "codec/presets.hpp"
#include "model/validation/validation.hpp"
#include "support/hostility.hpp"
#include "support/mixed_history.hpp"
#include "support/property.hpp"
#include "support/random_fleet.hpp"
#include "support/random_planning.hpp"
#include "support/random_queues.hpp"
#include "support/random_sessions.hpp"
#include "support/random_world.hpp"

namespace makeway::hostile_properties {
namespace {

constexpr std::uint64_t cases_in_one = 40;
constexpr int hostile_cycles = 16;
/// Most are at rest after a dozen cycles. Sessions take longest: their back-offs double.
constexpr int cycles_max = 120;
/// Of those that are minutes apart: longer than any timeout and back-off.
constexpr int still_cycles = 4;

struct HostileStart {
  std::vector<Change> objects;
  Configuration configuration;
  std::string text;  ///< For people.
};

HostileStart with_preset(std::vector<Change> objects, std::string_view preset) {
  return {.objects = std::move(objects),
          .configuration = *load_preset(preset),
          .text = fmt::format("preset {}", preset)};
}

/// Half of the running pods are submitted again when they are gone.
void give_controllers(Prng& random, std::vector<Change>& objects) {
  for (Change& object : objects) {
    Pod* const pod = std::get_if<Pod>(&object);
    if (pod == nullptr || pod->node.empty() || !random.chance(50)) continue;
    pod->owners = {{.kind = "ReplicaSet", .name = "set", .uid = "set-uid", .controller = true}};
  }
}

/// Law 2 is waived: a pod that comes back may be of higher priority than the ask it had to leave
/// for, and that goes on for ever.
bool waives_priorities(const Configuration& configuration) {
  return std::ranges::find(configuration.engine.laws_waived, WaivedLaw::law_2) !=
         configuration.engine.laws_waived.end();
}

/// Steps until nothing changes any more; says after how many cycles, 0: never.
int rest(MixedHistory& history) {
  int still = 0;
  for (int cycle = 1; cycle <= cycles_max && history.complaints().empty(); ++cycle) {
    history.step();
    still = history.still() ? still + 1 : 0;
    if (still == still_cycles) return cycle;
  }
  return 0;
}

/// What all policies have in common.
class HostileHistories {
 public:
  void run(std::string_view policy, const std::function<HostileStart(Prng&)>& start) {
    for_one_case_in(cases_in_one, fmt::format("hostile world: {}", policy),
                    [&](Prng& random) { run_one(random, start(random)); });
    fmt::print("at rest after at most {} cycles; {} times others left, {} times once more\n",
               longest_, chosen_, again_);
    tally_.expect_each(policy);
    refused_.expect_at_most(20, "are refused as bad input", property_cases() / cases_in_one);
  }

 private:
  void run_one(Prng& random, const HostileStart& start) {
    const Cluster cluster = cluster_of(start.objects);
    if (has_errors(find_errors(cluster))) return refused_.add();
    Hostility hostility(random.next());
    MixedHistory history(cluster, start.configuration, planning_now,
                         {.seed = random.next(),
                          .grace_max_s = random.chance(30) ? 0 : 30,
                          .recreate = random.chance(50) && !waives_priorities(start.configuration),
                          .hostility = &hostility});
    for (int cycle = 0; cycle < hostile_cycles && history.complaints().empty(); ++cycle) {
      history.step();
    }
    history.calm();
    const int cycles = rest(history);
    ASSERT_TRUE(history.complaints().empty()) << start.text << "\n" << history.story();
    ASSERT_NE(cycles, 0) << "it does not come to rest, " << start.text << "\n" << history.story();
    for (const std::string& complaint : history.unaccounted()) {
      ADD_FAILURE() << complaint << ", " << start.text << "\n" << history.story();
    }
    longest_ = std::max(longest_, cycles);
    chosen_ += history.ledger().chosen();
    again_ += history.ledger().again();
    tally_.add(hostility);
  }

  HostilityTally tally_;
  Skips refused_;
  int longest_ = 0;
  std::uint64_t chosen_ = 0;
  std::uint64_t again_ = 0;
};

TEST(HostileHistories, PodsAndGroups) {  // section 2
  HostileHistories().run("pods and groups", [](Prng& random) {
    RandomPlanning options = random_planning_options(random);
    options.asks += 2;
    options.gangs = random.below(3);
    std::vector<Change> objects = random_planning(random, options);
    give_controllers(random, objects);
    return with_preset(std::move(objects), random.pick<std::string_view>(
                                               {"makeway", "makeway", "kube-1.37", "kep-5710"}));
  });
}

TEST(HostileHistories, Queues) {  // section 3
  HostileHistories().run("queues", [](Prng& random) {
    RandomQueueCase item = random_queue_case(random);
    give_controllers(random, item.objects);
    return with_preset(std::move(item.objects),
                       random.pick<std::string_view>({"makeway", "makeway", "kube-arbitrator"}));
  });
}

TEST(HostileHistories, Replicas) {  // section 4
  HostileHistories().run("replicas", [](Prng& random) {
    RandomFleet options = random_fleet_options(random);
    options.strangers = random.chance(20);
    return with_preset(random_fleet(random, options),
                       random.pick<std::string_view>({"makeway", "makeway", "mcm-v1"}));
  });
}

TEST(HostileHistories, RequiredNodes) {  // section 5
  HostileHistories().run("required nodes", [](Prng& random) {
    RandomPlanning options = random_planning_options(random);
    options.asks += 3;
    std::vector<Change> objects = random_planning(random, options);
    std::vector<std::string> nodes;
    for (const Change& object : objects) {
      if (const Node* const node = std::get_if<Node>(&object)) nodes.push_back(node->name);
    }
    for (Change& object : objects) {
      Pod* const pod = std::get_if<Pod>(&object);
      if (pod == nullptr || !pod->node.empty() || !random.chance(70)) continue;
      pod->shape.node_terms = {
          {.labels = {}, .fields = {{.key = "metadata.name", .values = {random.pick(nodes)}}}}};
    }
    give_controllers(random, objects);
    HostileStart start = with_preset(
        std::move(objects),
        random.pick<std::string_view>({"makeway", "makeway", "yunikorn", "yunikorn-design"}));
    start.configuration.required_node.preemption_start_delay = {random.between(0, 3) * 15'000};
    return start;
  });
}

TEST(HostileHistories, Sessions) {  // section 6
  HostileHistories().run("sessions", [](Prng& random) {
    RandomSessions options = random_sessions_options(random);
    options.running = std::max<std::size_t>(options.running, 6);
    options.pending = std::max<std::size_t>(options.pending, 3);
    std::vector<Change> objects = random_sessions(random, options);
    for (Change& object : objects) {  // Few of the running pods may be evicted.
      Session* const session = std::get_if<Session>(&object);
      if (session != nullptr && session->status.phase == SessionPhase::running) {
        session->priority = static_cast<std::int32_t>(random.between(0, 5));
      }
    }
    return HostileStart{.objects = std::move(objects),
                        .configuration = random_session_configuration(random),
                        .text = "random configuration"};
  });
}

TEST(HostileHistories, WhateverMeets) {
  HostileHistories().run("mixed", [](Prng& random) {
    RandomWorldCase item = random_world_case(random);
    HostileStart start = with_preset(std::move(item.objects), item.preset);
    start.text += ", " + world_text(item.options);
    return start;
  });
}

}  // namespace
}  // namespace makeway::hostile_properties
