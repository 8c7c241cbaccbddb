// Job and CronJob (facts/workload-kinds.md, 3.1).
#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "base/ascii.hpp"
#include "codec/workloads/json_edit.hpp"
#include "codec/workloads/loss_rules.hpp"
#include "codec/workloads/workload_kinds.hpp"

namespace makeway {
namespace {

constexpr std::string_view index_name = "batch.kubernetes.io/job-completion-index";

/// Indexes that need no pod: "0-3,7", and those that a pod holds.
class TakenIndexes {
 public:
  void add(std::string_view text) {
    while (!text.empty()) {
      const std::size_t comma = std::min(text.find(','), text.size());
      add_range(text.substr(0, comma));
      text.remove_prefix(std::min(comma + 1, text.size()));
    }
  }

  /// Before the first question.
  void settle() {
    std::ranges::sort(ranges_);
    std::vector<Range> merged;
    for (const Range& range : ranges_) {
      if (merged.empty() || range.first > merged.back().second + 1) {
        merged.push_back(range);
      } else {
        merged.back().second = std::max(merged.back().second, range.second);
      }
    }
    ranges_ = std::move(merged);
  }

  /// The first index from `index` on that is free.
  std::int64_t next_free(std::int64_t index) const {
    const auto after = std::ranges::upper_bound(ranges_, index, {}, &Range::first);
    if (after == ranges_.begin()) return index;
    return std::max(index, std::prev(after)->second + 1);
  }

 private:
  using Range = std::pair<std::int64_t, std::int64_t>;

  void add_range(std::string_view text) {
    Range range;
    const std::size_t dash = std::min(text.find('-'), text.size());
    const std::string_view first = text.substr(0, dash);
    const auto [rest, error] =
        std::from_chars(first.data(), first.data() + first.size(), range.first);
    if (error != std::errc{}) return;
    range.second = range.first;
    const std::string_view last = text.substr(std::min(dash + 1, text.size()));
    std::from_chars(last.data(), last.data() + last.size(), range.second);
    if (range.second >= range.first && range.second <= count_max) ranges_.push_back(range);
  }

  std::vector<Range> ranges_;
};

/// How many pods a Job wants and which.
struct JobCounts {
  std::int64_t parallelism = 1;
  std::optional<std::int64_t> completions;  ///< None: a work queue.
  bool indexed = false;
};

JobCounts read_job_counts(const JobOrder& order) {
  const ManifestField parallelism = order.spec.at("parallelism");
  const ManifestField completions = order.spec.at("completions");
  const ManifestField mode = order.spec.at("completionMode");
  const std::string_view fallback = order.defaults_of_job_set ? "Indexed" : "NonIndexed";
  JobCounts counts;
  counts.parallelism = parallelism.count(1, MadePods::pods_max);
  if (completions.is_present()) counts.completions = completions.count(1, count_max);
  if (!completions.is_present() && !parallelism.is_present()) counts.completions = 1;
  const std::string written = mode.text(fallback);
  counts.indexed = written == "Indexed";
  if (!counts.indexed && written != "NonIndexed") mode.refuse("expected Indexed or NonIndexed");
  if (counts.indexed && !counts.completions) {
    completions.refuse("an Indexed Job needs completions", "set it, usually to parallelism");
    counts.completions = counts.parallelism;
  }
  const std::string last = fmt::format(
      "{}-{}", order.name, std::max<std::int64_t>(counts.completions.value_or(1), 1) - 1);
  if (counts.indexed && (last.size() > 63 || last.contains('.'))) {
    completions.refuse(
        fmt::format("the host name {} of its last pod is no DNS label of at most 63 bytes", last),
        "choose a shorter name without dots");
  }
  return counts;
}

/// Pods of a Job restart in place or not at all.
void check_restart_policy(const JobOrder& order) {
  const ManifestField policy = order.spec.at(order.template_key).at("spec").at("restartPolicy");
  const std::string text = policy.text(order.defaults_of_job_set ? "OnFailure" : "");
  if (text == "Never" || text == "OnFailure") return;
  policy.refuse("expected Never or OnFailure", fmt::format("set {}", policy.path()));
}

TextPairs job_labels(const JobOrder& order, const OwnerReference& owner) {
  TextPairs labels = order.labels;
  if (order.spec.at("manualSelector").truth()) return labels;
  for (const std::string_view prefix : {"", "batch.kubernetes.io/"}) {
    labels.emplace_back(fmt::format("{}job-name", prefix), order.name);
    labels.emplace_back(fmt::format("{}controller-uid", prefix), owner.uid);
  }
  return labels;
}

/// Makes the pods of one Job.
class JobPods {
 public:
  JobPods(Expansion& expansion, const JobOrder& order, const JobCounts& counts, PodTemplate pods)
      : expansion_(expansion), order_(order), counts_(counts), pods_(std::move(pods)) {
    details_.labels = job_labels(order, pods_.owner);
    details_.annotations = order.labels;
    details_.wave = order.wave;
    details_.wave_after = order.wave_after;
    if (!order.exclusive_topology.empty()) write_exclusive_specs();
  }

  void make() {
    const std::int64_t missing = count_missing();
    std::int64_t index = 0;
    for (std::int64_t made = 0; made < missing; ++made) {
      if (counts_.indexed) {
        index = taken_.next_free(index);
        if (index >= *counts_.completions) return;
      }
      if (!make_one(index)) return;
      ++index;
    }
  }

 private:
  /// A pod that is there counts unless it is leaving; with policy Failed even then.
  bool counts_as_present(PodIndex pod) const {
    if (expansion_.existing().is_active(pod)) return true;
    const bool has_rules = order_.spec.at("podFailurePolicy").is_present();
    return order_.spec.at("podReplacementPolicy").text(has_rules ? "Failed" : "") == "Failed";
  }

  std::int64_t count_missing() {
    std::int64_t present = 0;
    for (const PodIndex pod : expansion_.pods_of("Job", order_.name, order_.uid)) {
      if (!counts_as_present(pod)) continue;
      ++present;
      expansion_.note_present(pod);
      taken_.add(expansion_.existing().label(pod, index_name).value_or(""));
    }
    if (has_condition(order_.status,
                      {"Complete", "Failed", "SuccessCriteriaMet", "FailureTarget"})) {
      return 0;
    }
    const std::int64_t succeeded = order_.status.at("succeeded").count(0, count_max);
    taken_.add(order_.status.at("completedIndexes").text());
    taken_.add(order_.status.at("failedIndexes").text());
    taken_.settle();
    if (!counts_.completions) return succeeded > 0 ? 0 : counts_.parallelism - present;
    return std::min(counts_.parallelism, *counts_.completions - succeeded) - present;
  }

  /// The leader looks for a domain of its own; the others follow it there.
  void write_exclusive_specs() {
    const std::string& key = order_.exclusive_topology;
    const std::string priority = fmt::format("{}", expansion_.priority_of(pods_.spec));
    details_.labels.emplace_back("jobset.sigs.k8s.io/priority", priority);
    constexpr std::string_view name = "jobset.sigs.k8s.io/job-key";
    JsonValue follower = pods_.spec;
    add_pod_term(follower, "podAffinity", key, Namespaces::all,
                 {requirement(name, "In", {order_.job_key})});
    follower_spec_ = compact_text(follower);
    add_pod_term(follower, "podAntiAffinity", key, Namespaces::all,
                 {requirement(name, "Exists", {}), requirement(name, "NotIn", {order_.job_key}),
                  requirement("jobset.sigs.k8s.io/priority", "In", {priority})});
    leader_spec_ = compact_text(follower);
  }

  bool make_one(std::int64_t index) {
    PodDetails details = details_;
    if (counts_.indexed) {
      const std::string text = fmt::format("{}", index);
      details.labels.emplace_back(index_name, text);
      details.annotations.emplace_back(index_name, text);
      const std::string end = fmt::format("-{}-", index);
      constexpr std::size_t base_length_max = 58;
      details.name = expansion_.fresh_name(
          order_.name.substr(0, base_length_max - std::min(base_length_max, end.size())) + end);
    } else {
      details.name = expansion_.fresh_name(order_.name + "-");
    }
    if (!order_.exclusive_topology.empty()) {
      details.spec_text = index == 0 ? &leader_spec_ : &follower_spec_;
      if (index > 0) {
        ++details.wave;
        details.wave_after = fmt::format("the pod of index 0 of Job {} has a node", order_.name);
      }
    }
    return expansion_.add(pods_, details);
  }

  Expansion& expansion_;
  const JobOrder& order_;
  JobCounts counts_;
  PodTemplate pods_;
  PodDetails details_;
  TakenIndexes taken_;
  std::string leader_spec_;
  std::string follower_spec_;
};

/// Jobs of a CronJob that still have pods, or could make some.
std::vector<OwnerReference> running_jobs(Expansion& expansion, const Manifest& manifest) {
  std::vector<OwnerReference> jobs;
  const OwnerReference owner{.kind = "CronJob", .name = manifest.name, .uid = manifest.uid};
  for (const Manifest* const job : expansion.children("Job", owner)) {
    if (has_condition(expansion.status(*job), {"Complete", "Failed"})) continue;
    share_job_losses(expansion, {.spec = expansion.fields(*job).at("spec"),
                                 .status = expansion.status(*job),
                                 .name = job->name,
                                 .uid = job->uid});
    jobs.push_back({.kind = "Job", .name = job->name, .uid = job->uid});
  }
  const std::string prefix = manifest.name + "-";
  for (const std::string& name :
       expansion.existing().controllers(expansion.namespace_name(), "Job", prefix)) {
    const std::string_view rest = std::string_view(name).substr(prefix.size());
    const bool minutes = !rest.empty() && std::ranges::all_of(rest, is_digit);
    if (minutes && std::ranges::find(jobs, name, &OwnerReference::name) == jobs.end()) {
      jobs.push_back({.kind = "Job", .name = name});
    }
  }
  return jobs;
}

}  // namespace

void expand_job_order(Expansion& expansion, const JobOrder& order) {
  const JobCounts counts = read_job_counts(order);
  check_restart_policy(order);
  PodTemplate pods = read_template(order.spec.at(order.template_key));
  pods.owner = expansion.controller("Job", order.name, order.uid);
  if (!order.own_nodes.empty()) {
    if (JsonValue* const selector = member(pods.spec, "nodeSelector")) {
      put_text(*selector, "alpha.jobset.sigs.k8s.io/namespaced-job", order.own_nodes);
    }
    tolerate(pods.spec, "alpha.jobset.sigs.k8s.io/no-schedule", "NoSchedule");
  }
  if (!expansion.prepare(pods)) return;
  share_job_losses(expansion, order);
  JobPods(expansion, order, counts, std::move(pods)).make();
}

void expand_job(Expansion& expansion, const Manifest& manifest) {
  const ManifestField spec = expansion.fields(manifest).at("spec");
  expansion.hold_if_off(spec, "kubernetes.io/job-controller");
  expand_job_order(expansion, {.spec = spec,
                               .status = expansion.status(manifest),
                               .name = manifest.name,
                               .uid = manifest.uid});
}

void expand_cron_job(Expansion& expansion, const Manifest& manifest) {
  const ManifestField spec = expansion.fields(manifest).at("spec");
  const ManifestField job = spec.at("jobTemplate").at("spec");
  if (!spec.at("schedule").is_present()) spec.at("schedule").refuse("expected a schedule");
  if (!job.is_present()) return job.refuse("expected the spec of its Jobs");
  if (spec.at("suspend").truth()) expansion.hold("it is suspended (spec.suspend)");
  if (job.at("suspend").truth()) {
    expansion.hold("its Jobs are suspended (spec.jobTemplate.spec.suspend)");
  }
  bool runs = false;
  for (const OwnerReference& running : running_jobs(expansion, manifest)) {
    for (const PodIndex pod : expansion.existing().of(expansion.namespace_name(), running)) {
      expansion.note_present(pod);
      runs = true;
    }
  }
  if (runs) expansion.hold("a run of it has pods");
  // One run. Its real name ends in the minute of its schedule, which is unknown here.
  const std::string name = manifest.name + "-1";
  expand_job_order(
      expansion,
      {.spec = job, .status = ManifestField(nullptr, "status", job.problems()), .name = name});
}

}  // namespace makeway
