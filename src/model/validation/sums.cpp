#include "model/validation/sums.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "model/object_text.hpp"

namespace makeway {
namespace {

__extension__ using Wide = __int128;

/// One object's amount of one resource.
struct Part {
  std::int64_t amount = 0;
  std::string object;
  std::string field;
};

class Sums {
 public:
  explicit Sums(Findings& findings) : findings_(findings), cluster_(findings.cluster()) {}

  void check() {
    for (std::size_t resource = 0; resource < cluster_.resources().size(); ++resource) {
      sums_.push_back(0);
    }
    add_rows();
    for (std::size_t at = 0; at < sums_.size(); ++at) {
      const ResourceIndex resource = ResourceIndex::from(at);
      if (sums_[at] + queues(resource, nullptr) > amount_sum_max) refuse(resource);
    }
  }

 private:
  /// Few rows are different: they are counted first.
  void add_rows() {
    std::vector<std::int64_t> uses(cluster_.request_rows());
    for (const PodIndex pod : cluster_.each_row()) ++uses[cluster_.pods().requests[pod].value];
    for (const NodeIndex node : cluster_.nodes_by_name()) {
      ++uses[cluster_.nodes().allocatable[node].value];
    }
    for (std::size_t row = 0; row < uses.size(); ++row) {
      if (uses[row] == 0) continue;
      for (const ResourceAmount& item : cluster_.requests(RequestId::from(row))) {
        sums_[item.resource.value] += Wide{item.amount} * uses[row];
      }
    }
  }

  std::string_view name(ResourceIndex resource) const {
    return cluster_.resources().name(resource);
  }

  /// What their statuses and guarantees say; the parts one by one where a caller wants them.
  Wide queues(ResourceIndex resource, std::vector<Part>* parts) const {
    Wide sum = 0;
    const auto add = [&](const Queue& queue, const std::vector<Amount>& amounts,
                         std::string_view field) {
      for (const Amount& item : amounts) {
        if (item.resource != name(resource)) continue;
        sum += item.amount;
        if (parts == nullptr) continue;
        parts->push_back({item.amount, object_text(queue), std::string(field)});
      }
    };
    for (const auto& [key, queue] : cluster_.own<Queue>()) {
      add(queue, queue.guarantee, "spec.guarantee");
      add(queue, queue.allocated, "status.allocated");
      add(queue, queue.preempting, "status.preempting");
    }
    return sum;
  }

  std::int64_t amount(RequestId row, ResourceIndex resource) const {
    for (const ResourceAmount& item : cluster_.requests(row)) {
      if (item.resource == resource) return item.amount;
    }
    return 0;
  }

  std::vector<Part> parts(ResourceIndex resource) const {
    std::vector<Part> result;
    for (const NodeIndex node : cluster_.nodes_by_name()) {
      const std::int64_t has = amount(cluster_.nodes().allocatable[node], resource);
      if (has == 0) continue;
      result.push_back({has, object_text(cluster_.node(node)), "status.allocatable"});
    }
    for (const PodIndex pod : cluster_.each_pod()) {
      const std::int64_t asks = amount(cluster_.pods().requests[pod], resource);
      if (asks == 0) continue;
      result.push_back(
          {asks, object_text(cluster_.pod(pod)), "spec.containers[].resources.requests"});
    }
    for (const auto& [key, session] : cluster_.own<Session>()) {
      Wide sum = 0;
      for (const Kernel& kernel : session.kernels) {
        for (const Amount& item : kernel.requests) {
          if (item.resource == name(resource)) sum += item.amount;
        }
      }
      if (sum == 0) continue;
      result.push_back({static_cast<std::int64_t>(std::min<Wide>(sum, amount_sum_max)),
                        object_text(session), "spec.kernels[].resources"});
    }
    queues(resource, &result);
    std::ranges::sort(result, [](const Part& a, const Part& b) {
      return std::tie(b.amount, a.object, a.field) < std::tie(a.amount, b.object, b.field);
    });
    return result;
  }

  void refuse(ResourceIndex resource) {
    const std::vector<Part> all = parts(resource);
    Wide left = 0;
    for (const Part& part : all) left += part.amount;
    for (const Part& part : all) {
      if (left <= amount_sum_max) return;
      left -= part.amount;
      findings_.error({.object = part.object,
                       .field = fmt::format("{}[{}]", part.field, shorten(name(resource))),
                       .value = human_amount(name(resource), part.amount),
                       .message = fmt::format("{} 2^61 ({}) of it", sum_message,
                                              human_amount(name(resource), amount_sum_max)),
                       .remedy = "correct the amount"});
    }
  }

  Findings& findings_;
  const Cluster& cluster_;
  std::vector<Wide> sums_;
};

}  // namespace

void check_sums(Findings& findings) { Sums(findings).check(); }

}  // namespace makeway
