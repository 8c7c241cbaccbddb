// FakePlane: a FakeApiserver with a Deployment controller, a scheduler and kubelets in it, as much
// of them as scaling needs, driven step by step.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "support/fake_json.hpp"
#include "support/live_server.hpp"

namespace makeway {

class FakePlane {
 public:
  explicit FakePlane(const std::vector<std::string>& nodes) : nodes_(nodes) {
    live.server.serve("apps/v1", "deployments", "Deployment");
    live.server.serve("autoscaling/v2", "horizontalpodautoscalers", "HorizontalPodAutoscaler");
    live.server.set_kubelet(true, false);
    live.server.put(namespace_text());
    for (const std::string& node : nodes) {
      live.server.put(
          fmt::format(R"({{"apiVersion":"v1","kind":"Node","metadata":{{"name":"{}"}},"status":)"
                      R"({{"allocatable":{{"nvidia.com/gpu":"1","pods":"20"}}}}}})",
                      node));
    }
    live.server.allow_writes();
  }
  FakePlane(const FakePlane&) = delete;
  FakePlane& operator=(const FakePlane&) = delete;
  ~FakePlane() = default;

  static std::string namespace_text() {
    return R"({"apiVersion":"v1","kind":"Namespace","metadata":{"name":"a","labels":)"
           R"({"makeway.dev/trusted":"true"}}})";
  }

  void deploy(std::string_view name, int replicas) {
    live.server.put(
        fmt::format(R"({{"apiVersion":"apps/v1","kind":"Deployment","metadata":{{"name":"{0}",)"
                    R"("namespace":"a","uid":"uid-{0}"}},"spec":{{"replicas":{1}}}}})",
                    name, replicas));
  }
  std::int64_t replicas(std::string_view name) const {
    return fake::number_at(fake::parsed(live.server.object("Deployment", "a", name)),
                           "spec.replicas");
  }
  /// Of its pods that are not leaving, those that run.
  std::size_t running(std::string_view name) const {
    std::size_t count = 0;
    for (const JsonValue& pod : pods()) {
      if (deployment_of(pod) == name && !leaves(pod) && !node_of(pod).empty()) ++count;
    }
    return count;
  }
  /// Controllers and kubelets do what they have to; the newest pod goes first, where a node is free
  /// one lands.
  void step() {
    if (is_cut) return;
    for (const JsonValue& deployment : all("Deployment")) {
      const std::string name = fake::text_at(deployment, "metadata.name");
      std::vector<std::string> own;
      for (const JsonValue& pod : pods()) {
        if (deployment_of(pod) == name && !leaves(pod)) {
          own.push_back(fake::text_at(pod, "metadata.name"));
        }
      }
      std::ranges::sort(own);
      const auto wanted = static_cast<std::size_t>(fake::number_at(deployment, "spec.replicas"));
      for (; own.size() > wanted; own.pop_back()) make_leave(own.back());
      for (std::size_t more = own.size(); more < wanted; ++more) add_pod(name);
    }
    place();
  }
  /// All leaving pods are gone.
  void let_go() {
    if (!is_cut) live.server.let_go();
  }
  void cut() {
    is_cut = true;
    live.server.fail({.kind = ServerFault::Kind::status, .times = 1'000'000, .status = 503});
    live.server.end_watches();
  }
  void mend() {
    is_cut = false;
    live.server.mend();
  }

  LiveServer live;
  bool is_cut = false;

 private:
  std::vector<JsonValue> all(std::string_view kind) const {
    std::vector<JsonValue> found;
    const JsonValue dumped = fake::parsed(live.server.dump());
    for (const JsonValue& object : *dumped.find("items")->as_array()) {
      if (fake::text_at(object, "kind") == kind) found.push_back(object);
    }
    return found;
  }
  std::vector<JsonValue> pods() const { return all("Pod"); }
  static bool leaves(const JsonValue& pod) {
    return !fake::text_at(pod, "metadata.deletionTimestamp").empty();
  }
  static std::string node_of(const JsonValue& pod) { return fake::text_at(pod, "spec.nodeName"); }
  static std::string deployment_of(const JsonValue& pod) {
    const JsonValue* const labels = fake::value_at(pod, "metadata.labels");
    const JsonValue* const own =
        labels == nullptr ? nullptr : labels->find("makeway.dev/deployment");
    return own == nullptr ? std::string() : *own->as_string();
  }
  void add_pod(const std::string& deployment) {
    ++made_;
    live.server.put(fmt::format(
        R"({{"apiVersion":"v1","kind":"Pod","metadata":{{"name":"{0}-{1:03}","namespace":"a",)"
        R"("uid":"uid-{0}-{1}","creationTimestamp":"2026-11-17T04:{2:02}:{3:02}Z","labels":)"
        R"({{"app":"{0}","makeway.dev/deployment":"{0}"}}}},"spec":{{"containers":)"
        R"([{{"name":"c","resources":)"
        R"({{"requests":{{"nvidia.com/gpu":"1"}}}}}}]}},"status":{{"phase":"Pending"}}}})",
        deployment, made_, made_ / 60, made_ % 60));
  }
  void make_leave(const std::string& name) {
    JsonValue pod = fake::parsed(live.server.object("Pod", "a", name));
    if (node_of(pod).empty()) return live.server.remove("Pod", "a", name);
    JsonValue& metadata = fake::member(pod, "metadata");
    fake::member(metadata, "deletionTimestamp") = fake::string_value("2026-11-17T05:10:00Z");
    fake::member(metadata, "deletionGracePeriodSeconds").data = std::int64_t{30};
    live.server.put(fake::text_of(pod));
  }
  void place() {
    std::map<std::string, int> used;
    for (const JsonValue& pod : pods()) ++used[node_of(pod)];
    for (JsonValue pod : pods()) {
      if (!node_of(pod).empty()) continue;
      const auto free = std::ranges::find_if(
          nodes_, [&](const std::string& node) { return !used.contains(node); });
      if (free == nodes_.end()) return;
      ++used[*free];
      fake::member(fake::member(pod, "spec"), "nodeName") = fake::string_value(*free);
      fake::member(fake::member(pod, "status"), "phase") = fake::string_value("Running");
      live.server.put(fake::text_of(pod));
    }
  }

  std::vector<std::string> nodes_;
  int made_ = 0;
};

}  // namespace makeway
