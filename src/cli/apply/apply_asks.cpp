#include "cli/apply/apply_asks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/printable.hpp"
#include "cli/plan/ask_name.hpp"
#include "cli/suggest.hpp"

namespace makeway::cli {
namespace {

constexpr std::string_view plan_live =
    "make the plan from the live cluster: makeway plan --kubeconfig FILE -o json";

AskName name_of(const PlannedAsk& ask) {
  return {.kind = ask.kind, .namespace_name = ask.namespace_name, .name = ask.name};
}

std::unexpected<Error> wrong_only(std::string_view written, std::string_view why) {
  return std::unexpected(Error{.code = ErrorCode::fix_usage,
                               .message = fmt::format("--only '{}': {}", shorten(written), why)});
}

bool is_meant(const WrittenAsk& written, const PlannedAsk& ask) {
  return (!written.kind || *written.kind == ask.kind) &&
         written.namespace_name == ask.namespace_name && written.name == ask.name;
}

/// The asks that are wanted, by position.
Result<std::set<std::size_t>> wanted_asks(const PlanDocument& document,
                                          const std::vector<std::string>& only) {
  std::set<std::size_t> wanted;
  for (const std::string& each : only) {
    const Result<WrittenAsk> written = parse_ask(each);
    if (!written) return wrong_only(each, written.error().message);
    bool is_found = false;
    for (std::size_t at = 0; at < document.asks.size(); ++at) {
      if (!written->workload.empty() || !is_meant(*written, document.asks[at])) continue;
      is_found = true;
      wanted.insert(at);
      if (!document.asks[at].places.empty()) continue;
      return wrong_only(each, fmt::format("the plan has no place for it ({})",
                                          choice_name(document.asks[at].outcome)));
    }
    if (is_found) continue;
    std::vector<std::string> texts;
    texts.reserve(document.asks.size());
    for (const PlannedAsk& ask : document.asks) {
      texts.push_back(fmt::format("{}/{}", ask.namespace_name, ask.name));
    }
    const std::vector<std::string_view> views(texts.begin(), texts.end());
    return wrong_only(each, "the plan has no such ask" + did_you_mean(views, each));
  }
  return wanted;
}

/// What a plan asks for that kind, besides binds and evictions.
std::string_view own_actions(AskKind kind) {
  switch (kind) {
    case AskKind::queue: return "moving room between queues";
    case AskKind::replica_schedule: return "scale-up, scale-down and force-delete";
    case AskKind::session: return "starting, requeueing and suspending sessions";
    case AskKind::pod:
    case AskKind::pod_group: break;
  }
  return {};
}

/// Why nothing can be written about a pod that the plan names; empty: it can.
std::string why_not(const PlannedPod& pod, std::string& remedy) {
  if (!pod.plane.empty()) {
    remedy = "apply is for one cluster; carry out the rest of the plan with --only";
    return fmt::format("pod {}/{} is in plane {}", pod.namespace_name, pod.name, pod.plane);
  }
  if (pod.uid.empty()) {
    remedy = plan_live;
    return fmt::format(
        "the plan has no uid of pod {}/{}, so another pod of that name could be mistaken for it",
        pod.namespace_name, pod.name);
  }
  return {};
}

/// Without a reason the ask can be tried.
RefusedAsk refusal_of(const PlannedAsk& ask) {
  RefusedAsk refused{.ask = ask_text(name_of(ask)), .reason = {}, .remedy = {}};
  if (const std::string_view actions = own_actions(ask.kind); !actions.empty()) {
    refused.reason = fmt::format("{} is not carried out by `makeway apply`", actions);
    refused.remedy = "carry out the rest of the plan with --only";
    return refused;
  }
  if (!ask.made_from.empty()) {
    refused.reason =
        fmt::format("its pod was made from {} for this plan and is not there yet", ask.made_from);
    refused.remedy = "submit it, and plan again";
    return refused;
  }
  for (const PlannedPod& pod : ask.places) {
    if (refused.reason.empty()) refused.reason = why_not(pod, refused.remedy);
  }
  for (const PlannedPod& pod : ask.victims) {
    if (refused.reason.empty()) refused.reason = why_not(pod, refused.remedy);
  }
  return refused;
}

ApprovedPod approved(const PlannedPod& pod) {
  return {.namespace_name = pod.namespace_name, .name = pod.name, .uid = pod.uid, .node = pod.node};
}

}  // namespace

Result<ChosenAsks> choose_asks(const PlanDocument& document, const std::vector<std::string>& only) {
  const Result<std::set<std::size_t>> wanted = wanted_asks(document, only);
  if (!wanted) return std::unexpected(wanted.error());
  ChosenAsks chosen;
  for (std::size_t at = 0; at < document.asks.size(); ++at) {
    const PlannedAsk& ask = document.asks[at];
    const bool is_of_pods = ask.kind == AskKind::pod || ask.kind == AskKind::pod_group;
    if (is_of_pods && ask.places.empty()) {
      ++chosen.without_place;
      continue;
    }
    if (!only.empty() && !wanted->contains(at)) {
      ++chosen.not_wanted;
      continue;
    }
    if (RefusedAsk refused = refusal_of(ask); !refused.reason.empty()) {
      chosen.refused.push_back(std::move(refused));
      continue;
    }
    ApprovedAsk& own = chosen.asks.emplace_back();
    own.name = name_of(ask);
    for (const PlannedPod& pod : ask.places) own.places.push_back(approved(pod));
    for (const PlannedPod& pod : ask.victims) own.victims.push_back(approved(pod));
    for (const auto* const pods : {&ask.places, &ask.victims}) {
      for (const PlannedPod& pod : *pods) {
        if (!pod.version.empty()) chosen.versions[{pod.namespace_name, pod.name}] = pod.version;
      }
    }
  }
  return chosen;
}

}  // namespace makeway::cli
