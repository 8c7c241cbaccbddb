#include "model/configuration.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <span>
#include <utility>

#include "model/compatibility.hpp"
#include "model/knobs.hpp"
#include "model/names.hpp"
#include "model/profiles.hpp"

namespace makeway {
namespace {

template <class Item>
bool lists(const std::vector<Item>& items, Item item) {
  return std::ranges::find(items, item) != items.end();
}

/// Collects problems; the value shown is always the one the configuration has.
class ConfigurationFindings {
 public:
  explicit ConfigurationFindings(const Configuration& configuration)
      : configuration_(configuration) {}

  void refuse(std::string_view path, std::string message, std::string remedy) {
    add(Severity::error, path, std::move(message), std::move(remedy));
  }
  void warn(std::string_view path, std::string message, std::string remedy) {
    add(Severity::warning, path, std::move(message), std::move(remedy));
  }
  Problems take() { return std::move(problems_); }

 private:
  void add(Severity severity, std::string_view path, std::string message, std::string remedy) {
    problems_.push_back({.severity = severity,
                         .origin = {},
                         .object = {},
                         .field = std::string(path),
                         .value = shorten(knob_text(configuration_, *find_knob(path))),
                         .message = std::move(message),
                         .remedy = std::move(remedy)});
  }

  const Configuration& configuration_;
  Problems problems_;
};

/// Waivers that are part of another one.
constexpr std::array<std::pair<WaivedLaw, WaivedLaw>, 3> partial_waivers = {
    {{WaivedLaw::law_4, WaivedLaw::law_4_gangs},
     {WaivedLaw::law_1, WaivedLaw::law_1_claims},
     {WaivedLaw::law_4, WaivedLaw::law_4_claims}}};

/// Rules that give up a law need its waiver, so that the plan can say so. A bundle has both; a
/// profile has rules of one bundle and the waivers of another.
void check_waivers(const Configuration& configuration, ConfigurationFindings& findings) {
  const auto need = [&](bool breaks, WaivedLaw law) {
    if (!breaks || waives(configuration, law)) return;
    findings.refuse(compatibility_path,
                    fmt::format("plans would break law {}, which is not waived", choice_name(law)),
                    "choose the same compatibility for the cluster, or another one");
  };
  const RequiredNodeSettings& required_node = configuration.required_node;
  const bool none = configuration.workload.put_back == PutBack::none ||
                    required_node.put_back == PutBack::none ||
                    configuration.session.put_back == PutBack::none;
  const bool unclaimed = configuration.queue.excess_leaves == ExcessLeaves::always;
  need(none, WaivedLaw::law_4);
  need(configuration.workload.put_back == PutBack::once, WaivedLaw::law_4_gangs);
  need(required_node.allow_higher_priority, WaivedLaw::law_2);
  need(configuration.workload.leaving_room != LeavingRoom::credited ||
           required_node.leaving_room != PinnedLeavingRoom::credited,
       WaivedLaw::law_6);
  need(unclaimed, WaivedLaw::law_1_claims);
  need(unclaimed, WaivedLaw::law_4_claims);
}

void check_workload(const WorkloadSettings& workload, ConfigurationFindings& findings) {
  if (workload.preemption_priority_from > workload.preemption_priority_to) {
    findings.refuse("workload.preemptionPriorityFrom", "lies above workload.preemptionPriorityTo",
                    "lower the one or raise the other");
  }
  if (lists(workload.score_keys, ScoreKey::priority_sum) &&
      lists(workload.score_keys, ScoreKey::raw_priority_sum)) {
    findings.refuse("workload.scoreKeys", "priority-sum and raw-priority-sum exclude each other",
                    "name one of them");
  }
  if (workload.evict_for == EvictFor::all &&
      !lists(workload.score_keys, ScoreKey::members_not_placed)) {
    findings.warn("workload.scoreKeys",
                  "with evictFor=all a plan that places fewer members may win",
                  "put members-not-placed first");
  }
}

bool is_victim_class(std::string_view line) {
  if (line == "regular" || line == "owner" || line == "opted-out") return true;
  for (const std::string_view kind : {"label:", "annotation:"}) {
    if (!line.starts_with(kind)) continue;
    const std::size_t equals = line.find('=');
    if (equals == std::string_view::npos || equals <= kind.size()) return false;
    // Other annotations are not kept.
    const std::string_view key = line.substr(kind.size(), equals - kind.size());
    return kind == "label:" || names::is_mark(key);
  }
  return false;
}

void check_required_node(const RequiredNodeSettings& required_node,
                         ConfigurationFindings& findings) {
  for (const std::string& line : required_node.victim_classes) {
    if (is_victim_class(line)) continue;
    findings.refuse("required_node.victimClasses",
                    fmt::format("'{}' is not a class of victims", shorten(line)),
                    "use regular, owner, opted-out, label:KEY=VALUE or "
                    "annotation:makeway.dev/NAME=VALUE");
  }
}

void check_session(const SessionSettings& session, ConfigurationFindings& findings) {
  if (session.backoff_max < session.backoff_first) {
    findings.refuse("session.backoffMax", "is shorter than session.backoffFirst",
                    "raise the one or lower the other");
  }
}

void check_live(const LiveSettings& live, ConfigurationFindings& findings) {
  constexpr Duration shortest{1'500};  // Its fifteenths are whole tenths of a second.
  if (live.lease_duration < shortest) {
    findings.refuse("live.leaseDuration", "is too short to be renewed in time",
                    "use 1500ms or more; 15s is the Kubernetes default");
  }
  constexpr Duration long_grace{3'600'000};
  if (live.capacity_grace > long_grace) {
    findings.warn("live.capacityGrace",
                  "for so long no queue gets its share back, whenever some node offers less",
                  "a device plugin restarts within minutes; 5m is enough");
  }
}

// ---- Profiles -----------------------------------------------------------------------------------

/// Every knob within its limits, and what ties knobs together; profiles apart.
Problems validate_rules(const Configuration& configuration) {
  ConfigurationFindings findings(configuration);
  for (const Knob& knob : knobs()) {
    std::string message = refusal(knob, knob.get(configuration));
    if (!message.empty()) findings.refuse(knob.path, std::move(message), {});
  }
  check_waivers(configuration, findings);
  check_workload(configuration.workload, findings);
  check_required_node(configuration.required_node, findings);
  check_session(configuration.session, findings);
  check_live(configuration.live, findings);
  return findings.take();
}

std::string profile_field(const Profile& profile, std::string_view path) {
  return fmt::format("profiles.{}.{}", shorten(profile.scheduler_name), path);
}

/// What is wrong with one knob of a profile, or nothing; then it is set.
std::optional<Problem> set_profile_knob(Configuration& rules, const Profile& profile,
                                        const ProfileKnob& each) {
  const Knob* const knob = find_knob(each.path);
  if (knob != nullptr && knob->scope == KnobScope::cluster) {
    return cluster_knob_problem(profile.scheduler_name, *knob, each.value);
  }
  std::optional<Problem> problem = set_knob(rules, each.path, each.value);
  if (problem) problem->field = profile_field(profile, problem->field);
  return problem;
}

void check_profile(const Configuration& configuration, const Problems& of_all,
                   const Profile& profile, Problems& problems) {
  if (profile.scheduler_name.empty()) {
    problems.push_back({.origin = {},
                        .object = {},
                        .field = "profiles",
                        .value = {},
                        .message = "a profile has no schedulerName",
                        .remedy = "set profiles[].schedulerName"});
    return;
  }
  Configuration rules = configuration;
  rules.profiles.clear();
  bool is_sound = true;
  for (const ProfileKnob& each : profile.knobs) {
    std::optional<Problem> problem = set_profile_knob(rules, profile, each);
    if (!problem) continue;
    is_sound = false;
    problems.push_back(*std::move(problem));
  }
  if (!is_sound) return;
  keep_cluster_rules(rules, configuration);
  for (const Problem& problem : validate_rules(rules)) {
    // An error that does not come from the profile is reported once.
    if (std::ranges::find(of_all, problem) != of_all.end()) continue;
    Problem own = problem;
    own.field = profile_field(profile, own.field);
    problems.push_back(std::move(own));
  }
}

void check_profiles(const Configuration& configuration, Problems& problems) {
  const Problems of_all = problems;
  const std::vector<Profile>& profiles = configuration.profiles;
  if (profiles.size() > profiles_max) {
    problems.push_back({.origin = {},
                        .object = {},
                        .field = "profiles",
                        .value = fmt::format("{} profiles", profiles.size()),
                        .message = fmt::format("there may be {} at most", profiles_max),
                        .remedy = "let pods with the same rules share a schedulerName"});
    return;
  }
  for (std::size_t at = 0; at < profiles.size(); ++at) {
    check_profile(configuration, of_all, profiles[at], problems);
    const auto before = std::span(profiles).first(at);
    const auto same =
        std::ranges::find(before, profiles[at].scheduler_name, &Profile::scheduler_name);
    if (same == before.end()) continue;
    problems.push_back({.origin = {},
                        .object = {},
                        .field = "profiles",
                        .value = shorten(profiles[at].scheduler_name),
                        .message = "two profiles have this schedulerName",
                        .remedy = "merge them"});
  }
}

}  // namespace

bool waives(const Configuration& configuration, WaivedLaw law) {
  const std::vector<WaivedLaw>& waived = configuration.engine.laws_waived;
  return lists(waived, law) || std::ranges::any_of(partial_waivers, [&](const auto& partial) {
           return partial.second == law && lists(waived, partial.first);
         });
}

Problems validate(const Configuration& configuration) {
  Problems problems = validate_rules(configuration);
  check_profiles(configuration, problems);
  return problems;
}

bool is_needed_live(WaivedLaw law) {
  return law == WaivedLaw::law_1 || law == WaivedLaw::law_1_claims || law == WaivedLaw::law_2 ||
         law == WaivedLaw::law_3 || law == WaivedLaw::law_5 || law == WaivedLaw::law_8;
}

std::string canonical_text(const Configuration& configuration) {
  std::string text;
  for (const Knob& knob : knobs()) {
    text += fmt::format("{}={}\n", knob.path, knob_text(configuration, knob));
  }
  for (const Profile& profile : configuration.profiles) {
    for (const ProfileKnob& each : profile.knobs) {
      const Knob* const knob = find_knob(each.path);
      if (knob != nullptr && knob_text(configuration, *knob) == each.value) continue;
      text += fmt::format("profiles.{}.{}={}\n", profile.scheduler_name, each.path, each.value);
    }
  }
  return text;
}

std::string configuration_hash(const Configuration& configuration) {
  return canonical_hash(canonical_text(configuration));
}

std::string canonical_hash(std::string_view text) {
  // FNV-1a, written out: plans and journals store the digits, so they must outlive any tuning of
  // the hash tables in base.
  std::uint64_t hash = 14'695'981'039'346'656'037U;
  for (const char byte : text) {
    hash = (hash ^ static_cast<unsigned char>(byte)) * 1'099'511'628'211U;
  }
  return fmt::format("{:016x}", hash);
}

}  // namespace makeway
