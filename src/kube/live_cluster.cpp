#include "kube/live_cluster.hpp"

#include <fmt/format.h>

#include <utility>

namespace makeway::kube {
namespace {

/// Whether a cluster without this kind still says something.
bool may_be_left_out(const Resource& resource) {
  return resource.plural != "nodes" && resource.plural != "pods";
}

}  // namespace

LiveReading read_live_cluster(
    ApiClient& client, const LiveRequest& request,
    const std::function<void(std::string_view name, const PaddedText& page)>& take) {
  LiveReading reading;
  auto served = client.discover();
  if (!served) {
    Problem problem = std::move(served.error().problem);
    const bool goes_on = served.error().failure == Failure::forbidden && request.keep_going;
    if (goes_on) {
      problem.severity = Severity::warning;
      problem.message += "; read without kinds that not every cluster has";
    }
    reading.problems.push_back(std::move(problem));
    if (!goes_on) return reading;
    served = always_served();
  }
  for (const ServedResource& each : *served) {
    if (request.progress) request.progress(each.resource->plural);
    auto pages = client.list(each);
    if (!pages) {
      Problem problem = std::move(pages.error().problem);
      const bool is_forbidden = pages.error().failure == Failure::forbidden;
      if (is_forbidden && request.keep_going && may_be_left_out(*each.resource)) {
        problem.severity = Severity::warning;
        problem.message += fmt::format("; read without {}", each.resource->plural);
      }
      reading.problems.push_back(std::move(problem));
      // All missing rights are reported together; whatever else fails would fail again.
      if (!is_forbidden) return reading;
      continue;
    }
    const std::string name = fmt::format("live: {}", each.resource->plural);
    for (const PaddedText& page : pages->pages) take(name, page);
    reading.kinds.push_back({.served = each, .resource_version = pages->resource_version});
  }
  return reading;
}

}  // namespace makeway::kube
