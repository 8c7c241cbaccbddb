#include "model/plan.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/checked_math.hpp"
#include "base/problem.hpp"
#include "model/names.hpp"
#include "model/object_text.hpp"
#include "model/resource.hpp"

namespace makeway {

std::string exact_amount(std::string_view resource, std::int64_t amount) {
  if (counted_in_thousandths(resource)) {
    return amount % 1000 == 0 ? fmt::format("{}", amount / 1000) : fmt::format("{}m", amount);
  }
  const bool bytes = resource == memory_name || resource == storage_name;
  constexpr std::array<std::string_view, 5> suffixes = {"", "Ki", "Mi", "Gi", "Ti"};
  std::size_t suffix = 0;
  while (bytes && amount != 0 && amount % 1024 == 0 && suffix + 1 < suffixes.size()) {
    amount /= 1024;
    ++suffix;
  }
  return fmt::format("{}{}", amount, suffixes.at(suffix));
}

PlanCost sum(const PlanCost& a, const PlanCost& b) {
  return {.pod_seconds = saturated_add(a.pod_seconds, b.pod_seconds),
          .gpu_seconds = saturated_add(a.gpu_seconds, b.gpu_seconds)};
}

std::string ask_text(const PlanAsk& ask) {
  return object_text(choice_name(ask.kind), {ask.namespace_name, ask.name, ask.plane});
}

bool leaves_out_queues(const std::vector<PlanLeftOut>& left_out) {
  return std::ranges::find(left_out, AskKind::queue, &PlanLeftOut::kind) != left_out.end();
}

std::string unmet_need_text(std::string_view need) {
  if (need.starts_with(names::held_need)) {
    return std::string(need.substr(names::held_need.size()));
  }
  return fmt::format("needs {}, which Makeway does not check", need);
}

std::string refusal_text(const PlanRefusal& refusal) {
  std::string detail = shorten(refusal.detail, 96);
  const std::string_view least = refusal.nodes == 1 ? "" : "at least ";
  switch (refusal.reason) {
    case RefusalReason::unsupported: return unmet_need_text(detail);
    case RefusalReason::unschedulable: return "cordoned";
    case RefusalReason::taint: return fmt::format("taint {} is not tolerated", detail);
    case RefusalReason::claim: return detail;
    case RefusalReason::claim_node: return fmt::format("{} is not available there", detail);
    case RefusalReason::volume_in_use:
      return fmt::format("persistentVolumeClaim {} is in use by {}", detail,
                         refusal.holders.empty() ? std::string("another pod")
                                                 : key_text({refusal.holders.front().namespace_name,
                                                             refusal.holders.front().name,
                                                             refusal.holders.front().plane}));
    case RefusalReason::volume_limit:
      return fmt::format("{}{} more volumes of {} than the node takes", least, refusal.amount_min,
                         detail);
    case RefusalReason::node_affinity:
      return fmt::format("node selector or required node affinity does not match{}{}",
                         detail.empty() ? "" : ": ", detail);
    case RefusalReason::host_port: return fmt::format("host port {} is taken", detail);
    case RefusalReason::resource:
      return fmt::format("short of {} by {}{}", detail, least,
                         exact_amount(refusal.detail, refusal.amount_min));
    case RefusalReason::spread_label:
      return fmt::format("lacks the label {} of a topology spread constraint", detail);
    case RefusalReason::spread:
      return fmt::format("topology spread over {}: skew too large by {}{}", detail, least,
                         refusal.amount_min);
    case RefusalReason::affinity:
      return fmt::format("required pod affinity: no matching pod in the same {}", detail);
    case RefusalReason::anti_affinity:
      return fmt::format("required pod anti-affinity: a matching pod in the same {}", detail);
    case RefusalReason::repelled:
      return fmt::format("a pod in the same {} has anti-affinity against it", detail);
    case RefusalReason::promised: return "an earlier ask would lose its place";
    case RefusalReason::regime: return fmt::format("belongs to {}", detail);
  }
  CHECK(false, "unknown reason");
}

}  // namespace makeway
