// A write queue, its jobs and the server's answers, for tests of what it sends next.
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kube/write_queue.hpp"
#include "support/live_server.hpp"

namespace makeway::kube {

inline std::string queued_pod(std::string_view name, std::string_view version,
                              std::string_view node = {}, std::string_view more = {}) {
  return fmt::format(
      R"({{"metadata":{{"name":"{0}","namespace":"a","uid":"uid-{0}","resourceVersion":"{1}"{3}}},)"
      R"("spec":{{"nodeName":"{2}"}}}})",
      name, version, node, more);
}

inline WriteJob queued_job(const std::string& name, std::vector<WriteStep> steps) {
  return {.object = pod_ref("a", name),
          .ask = {},
          .unit = {},
          .seen = {.object =
                       {.namespace_name = "a", .name = name, .uid = "uid-" + name, .version = "1"}},
          .steps = std::move(steps),
          .needs = {}};
}
inline WriteStep bind_step() { return {.kind = WriteKind::bind, .node = "n1", .patch = {}}; }
inline WriteStep nominate_step() {
  return {.kind = WriteKind::patch_pod, .node = {}, .patch = nomination("n1", "0123", {})};
}
inline std::vector<WriteStep> evict_steps(WriteKind kind = WriteKind::erase) {
  return {{.kind = WriteKind::patch_pod,
           .node = {},
           .patch = eviction_mark({.ask = pod_ref("a", "u"), .uid = "u", .own_gang = {}}, "0123",
                                  false)},
          {.kind = kind, .node = {}, .patch = {}}};
}

inline WriteJob victim_of(const std::string& name, std::string_view unit = {},
                          std::string_view ask = "Pod a/u") {
  WriteJob victim = queued_job(name, evict_steps(WriteKind::evict));
  victim.is_eviction = true;
  victim.ask = parse_ref(ask);
  victim.unit = unit.empty() ? victim.object : *parse_ref(unit);
  return victim;
}
inline ApiResult<HttpAnswer> budget_says_no() {
  return http_answer(429, R"({"kind":"Status","code":429,"details":{"causes":[)"
                          R"({"reason":"DisruptionBudget"}]}})");
}

class WriteQueueScene : public testing::Test {
 protected:
  void add(std::vector<WriteJob> jobs) {
    queue.add("0123", Time{500}, {.jobs = std::move(jobs), .refused = {}}, now);
  }
  /// "DELETE /api/...": what is sent next; empty: nothing.
  std::string next() {
    std::optional<Sending> found = queue.next(now, Time{1'000'000});
    if (!found) return {};
    sending = *std::move(found);
    const std::string& path = sending.reads ? sending.call.read_path : sending.call.path;
    return (sending.reads ? "GET" : sending.call.write.method) + " " +
           path.substr(0, path.find('?'));
  }
  void reply(const ApiResult<HttpAnswer>& result) { queue.answered(sending.job, result, now); }
  /// The job whose eviction has been sent.
  std::uint64_t mark_and_evict(const std::string& name) {
    EXPECT_EQ(next(), fmt::format("PATCH /api/v1/namespaces/a/pods/{}/status", name));
    reply(http_answer(200, queued_pod(name, "2")));
    EXPECT_EQ(next(), fmt::format("POST /api/v1/namespaces/a/pods/{}/eviction", name));
    return sending.job;
  }
  std::vector<std::string> refused() {
    std::vector<std::string> texts;
    for (const Receipt& receipt : queue.take_receipts()) {
      texts.push_back(ref_text(receipt.object) + ": " + receipt.reason);
    }
    return texts;
  }

  WriteQueue queue{{}, {}};
  Time now{10'000};
  Sending sending;  ///< The last one.
};

}  // namespace makeway::kube
