#include "codec/workloads/loss_rules.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "model/object_text.hpp"

namespace makeway {
namespace {

/// Whether a rule of a podFailurePolicy is about evicted pods. Rules about exit codes are not: it
/// is unknown yet how the pod will end.
bool is_about_disruption(const ManifestField& rule) {
  return std::ranges::any_of(rule.at("onPodConditions").items(),
                             [](const ManifestField& condition) {
                               return condition.at("type").text() == "DisruptionTarget" &&
                                      condition.at("status").text("True") == "True";
                             });
}

bool is_empty_or_has(const ManifestField& list, std::string_view text) {
  const std::vector<ManifestField> items = list.items();
  return items.empty() ||
         std::ranges::any_of(items, [&](const ManifestField& item) { return item.text() == text; });
}

/// How many indexes "1,3-5" names; what cannot be read counts as none.
std::int64_t count_indexes(std::string_view text) {
  constexpr std::size_t digits_max = 9;
  const auto number = [](std::string_view part) {
    std::int64_t value = 0;
    for (const char digit : part) {
      if (digit < '0' || digit > '9') return std::int64_t{-1};
      value = value * 10 + (digit - '0');
    }
    return part.empty() ? std::int64_t{-1} : value;
  };
  std::int64_t count = 0;
  while (!text.empty()) {
    const std::string_view part = text.substr(0, text.find(','));
    text.remove_prefix(std::min(text.size(), part.size() + 1));
    const std::string_view first = part.substr(0, part.find('-'));
    const std::string_view last = part.substr(std::min(part.size(), first.size() + 1));
    if (first.size() > digits_max || last.size() > digits_max || number(first) < 0) continue;
    count += last.empty() ? 1 : std::max<std::int64_t>(number(last) - number(first) + 1, 0);
  }
  return count;
}

/// How many more indexes may fail, where losing a pod fails its index; none: no number ends it.
std::optional<std::int64_t> indexes_left(const ManifestField& spec, const ManifestField& status,
                                         bool at_once) {
  const ManifestField limit = spec.at("maxFailedIndexes");
  if (!limit.is_present()) return std::nullopt;
  // How often an index has failed stands in an annotation of its pod, which is not read.
  if (!at_once && spec.at("backoffLimitPerIndex").count(0, count_max) > 0) return std::nullopt;
  const std::int64_t left =
      limit.count(0, count_max) - count_indexes(status.at("failedIndexes").text());
  return std::max<std::int64_t>(left, 0);
}

}  // namespace

JobLosses job_losses(const ManifestField& spec, const ManifestField& status) {
  constexpr std::int64_t backoff_limit_default = 6;
  if (has_condition(status, {"Complete", "Failed", "SuccessCriteriaMet", "FailureTarget"})) {
    return {};
  }
  bool fails_index = false;
  for (const ManifestField& rule : spec.at("podFailurePolicy").at("rules").items()) {
    if (!is_about_disruption(rule)) continue;
    const std::string action = rule.at("action").text();
    if (action == "FailJob") return {.allowed = 0, .reason = "PodFailurePolicy"};
    fails_index = action == "FailIndex";
    if (action != "Count" && !fails_index) return {};
    break;
  }
  const ManifestField limit = spec.at("backoffLimit");
  const bool by_index = spec.at("backoffLimitPerIndex").is_present();
  JobLosses losses;
  if (limit.is_present() || !by_index) {
    const std::int64_t left =
        limit.count(backoff_limit_default, count_max) - status.at("failed").count(0, count_max);
    losses = {.allowed = std::max<std::int64_t>(left, 0), .reason = "BackoffLimitExceeded"};
  }
  const auto indexes = by_index ? indexes_left(spec, status, fails_index) : std::nullopt;
  if (indexes && (!losses.allowed || *indexes < *losses.allowed)) {
    losses = {.allowed = indexes, .reason = "MaxFailedIndexesExceeded"};
  }
  return losses;
}

void share_job_losses(Expansion& expansion, const JobOrder& order) {
  const std::vector<PodIndex> pods = expansion.pods_of("Job", order.name, order.uid);
  const std::string job = object_text("Job", expansion.namespace_name(), order.name);
  const JobLosses losses = job_losses(order.spec, order.status);
  LossShare share{.unit = order.loss_unit.empty() ? job : order.loss_unit};
  if (order.stalls) {
    share.part = share.unit;
  } else if (losses.allowed && *losses.allowed < std::ssize(pods)) {
    share.part = job;
    share.allowed = *losses.allowed;
  }
  for (const PodIndex pod : pods) expansion.share_loss(pod, share);
}

bool restarts_job_alone(const ManifestField& job_set, std::string_view entry,
                        std::string_view reason) {
  for (const ManifestField& rule : job_set.at("failurePolicy").at("rules").items()) {
    const bool is_meant = is_empty_or_has(rule.at("onJobFailureReasons"), reason) &&
                          is_empty_or_has(rule.at("targetReplicatedJobs"), entry);
    if (is_meant) return rule.at("action").text() == "RestartJob";
  }
  return false;
}

void drop_idle_units(const Cluster& cluster, LossShares& losses) {
  struct Seen {
    std::int64_t pods = 0;
    bool has_part = false;
  };
  using Key = std::pair<StringId, std::string>;
  const auto key_of_share = [&](PodIndex pod, const LossShare& share) {
    return Key(cluster.pods().namespace_name[pod], share.unit);
  };
  std::map<Key, Seen> units;
  for (const auto& [pod, shares] : losses) {
    for (const LossShare& share : shares) {
      Seen& seen = units[key_of_share(pod, share)];
      ++seen.pods;
      seen.has_part = seen.has_part || !share.part.empty();
    }
  }
  for (auto& [pod, shares] : losses) {
    std::erase_if(shares, [&, index = pod](const LossShare& share) {
      const Seen& seen = units.at(key_of_share(index, share));
      return !seen.has_part || seen.pods < 2;
    });
  }
  std::erase_if(losses, [](const auto& each) { return each.second.empty(); });
}

}  // namespace makeway
