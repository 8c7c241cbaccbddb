// ResourceGroup, Partition and Session as text: what is written loads as it was.
#include <gtest/gtest.h>

#include "base/prng.hpp"
#include "codec/dump.hpp"
#include "codec/load.hpp"
#include "model/normalize.hpp"

namespace makeway {
namespace {

std::optional<Time> maybe_time(Prng& random) {
  if (random.chance(50)) return std::nullopt;
  return Time{random.between(0, 1'000'000) * 1'000};
}

std::optional<bool> maybe(Prng& random) {
  if (random.chance(50)) return std::nullopt;
  return random.chance(50);
}

/// Everything that an object may say, and nothing that contradicts itself.
Session random_session(Prng& random, bool divided) {
  constexpr std::array phases = {SessionPhase::pending, SessionPhase::running,
                                 SessionPhase::preempted, SessionPhase::suspended,
                                 SessionPhase::ended};
  Session session{.namespace_name = random.chance(50) ? "default" : "team",
                  .name = "s-" + std::to_string(random.below(4)),
                  .uid = random.chance(50) ? "uid" : "",
                  .created = maybe_time(random),
                  .resource_group = "gpu",
                  .partition = divided ? "free" : "",
                  .type = static_cast<SessionType>(random.below(3)),
                  .checkpointing = random.chance(50),
                  .requeue = maybe(random),
                  .autoscaler = random.chance(50)};
  if (random.chance(50)) session.priority = static_cast<std::int32_t>(random.between(0, 100));
  if (divided) session.preemptible = maybe(random);
  SessionStatus& status = session.status;
  status.phase = phases[random.below(phases.size())];
  if (!divided && status.phase == SessionPhase::suspended) status.phase = SessionPhase::running;
  const bool placed =
      status.phase == SessionPhase::running || status.phase == SessionPhase::suspended;
  for (std::int64_t at = random.between(1, 3); at > 0; --at) {
    Kernel kernel{
        .name = "k" + std::to_string(at),
        .requests = {{"cpu", random.between(1, 9) * 250}, {"memory", random.between(0, 9)}},
        .node = placed ? "n1" : ""};
    if (random.chance(30)) {
      kernel.requests = {{"cpu", 500}};
      kernel.pod_template = R"({"metadata":{"labels":{"a":"b"}},"spec":{"containers":[{"name":)"
                            R"("c","image":"i","resources":{"requests":{"cpu":"500m"}}}]}})";
    }
    if (!placed && random.chance(30)) kernel.nominated_node = "n2";
    session.kernels.push_back(std::move(kernel));
  }
  status.started = maybe_time(random);
  status.last_checkpoint = maybe_time(random);
  if (status.phase == SessionPhase::running) status.ends_at = maybe_time(random);
  status.preemptions = random.between(0, 3);
  if (random.chance(50)) status.preempted_by = "Session default/other";
  status.preempted_at = maybe_time(random);
  if (random.chance(50)) status.fate = static_cast<SessionFate>(random.below(5));
  status.resume_after = maybe_time(random);
  if (status.phase == SessionPhase::preempted) {
    status.fate = random.chance(50) ? SessionFate::requeues : SessionFate::on_request;
    status.resume_after = Time{5'000};
  }
  normalize(session);
  return session;
}

Cluster random_cluster(Prng& random) {
  Cluster cluster;
  const bool divided = random.chance(50);
  cluster.apply(Node{.name = "n1", .labels = {{"pool", "gpu"}}, .allocatable = {{"cpu", 4'000}}});
  ResourceGroup group{.name = "gpu"};
  if (random.chance(50)) group.nodes = {"n1"};
  if (random.chance(50)) group.node_selector = {{"pool", "gpu"}};
  if (random.chance(50)) group.preemptible_priority = random.between(0, 100);
  if (random.chance(50)) group.preemption_order = static_cast<PreemptionOrder>(random.below(4));
  cluster.apply(group);
  if (divided) {
    Partition partition{.name = "free",
                        .resource_group = "gpu",
                        .tier = static_cast<std::int32_t>(random.between(0, 5)),
                        .preemptible = random.chance(50),
                        .mode = static_cast<PartitionMode>(random.below(3)),
                        .grace_time = {random.between(0, 3) * 30'000},
                        .exempt_time = {random.between(0, 3) * 3'600'000}};
    if (!group.nodes.empty() && random.chance(50)) partition.nodes = {"n1"};
    cluster.apply(partition);
  }
  for (int at = 0; at < 3; ++at) cluster.apply(random_session(random, divided));
  return cluster;
}

TEST(SessionCodec, ADumpLoadsToTheSameDump) {
  constexpr std::uint64_t cases = 300;
  for (std::uint64_t seed = 1; seed <= cases; ++seed) {
    SCOPED_TRACE(seed);
    Prng random(seed);
    const Cluster cluster = random_cluster(random);
    const DumpFormat format = seed % 2 == 0 ? DumpFormat::json : DumpFormat::yaml;
    const std::string first = dump(cluster, format);
    const LoadResult again = load_text(first, "dump");
    ASSERT_TRUE(again.loaded.has_value()) << first << to_text(again.problems.front());
    ASSERT_EQ(dump(again.loaded->cluster, format), first);
    ASSERT_EQ(again.loaded->cluster.own<Session>(), cluster.own<Session>());
    ASSERT_EQ(again.loaded->cluster.own<ResourceGroup>(), cluster.own<ResourceGroup>());
    ASSERT_EQ(again.loaded->cluster.own<Partition>(), cluster.own<Partition>());
  }
}

}  // namespace
}  // namespace makeway
