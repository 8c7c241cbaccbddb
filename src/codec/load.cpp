#include "codec/load.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "base/ascii.hpp"
#include "codec/decode.hpp"
#include "codec/fields.hpp"
#include "codec/json_value.hpp"
#include "codec/resource_names.hpp"
#include "codec/source.hpp"
#include "codec/workloads/workload_names.hpp"
#include "codec/workloads/workloads.hpp"
#include "codec/yaml.hpp"
#include "model/budget_finder.hpp"
#include "model/kinds.hpp"
#include "model/normalize.hpp"
#include "model/object_text.hpp"
#include "model/validation/validation.hpp"

namespace makeway {
namespace {

struct Governed {
  std::int64_t expected = 0;
  std::int64_t healthy = 0;

  Governed& operator+=(const Governed& other) {
    expected += other.expected;
    healthy += other.healthy;
    return *this;
  }
  Governed& operator-=(const Governed& other) {
    expected -= other.expected;
    healthy -= other.healthy;
    return *this;
  }
};

std::int64_t count_of(const CountOrPercent& wanted, std::int64_t expected) {
  return wanted.percent ? (wanted.value * expected + 99) / 100 : wanted.value;
}

std::int32_t allowed(const DisruptionBudget& budget, const Governed& governed) {
  std::int64_t desired = governed.expected;
  if (budget.available_min) {
    desired = count_of(*budget.available_min, governed.expected);
  } else if (budget.unavailable_max) {
    desired = std::max(std::int64_t{0},
                       governed.expected - count_of(*budget.unavailable_max, governed.expected));
  }
  return static_cast<std::int32_t>(std::max(std::int64_t{0}, governed.healthy - desired));
}

/// Plane, namespace and labels: pods of one controller share them.
using Alike = std::tuple<StringId, StringId, LabelSetId>;

std::map<Alike, Governed> count_alike(const Cluster& cluster) {
  std::map<Alike, Governed> counts;
  const PodColumns& pods = cluster.pods();
  for (const PodIndex pod : cluster.each_pod()) {
    Governed& governed = counts[{pods.plane[pod], pods.namespace_name[pod], pods.labels[pod]}];
    ++governed.expected;
    const bool leaving = pods.deletion[pod] != no_time;
    if (pods.node[pod].exists() && !leaving) ++governed.healthy;
  }
  return counts;
}

/// What a PodDisruptionBudget without a status allows, as the disruption controller computes it,
/// since hand-written manifests have none: desired = minAvailable, or expected - maxUnavailable;
/// percentages of the governed pods round up; allowed = healthy - desired, at least 0. Expected are
/// all governed pods, healthy those that run on a node and are not leaving.
void fill_budget_status(Cluster& cluster) {
  std::vector<DisruptionBudget> open;
  for (const DisruptionBudget* budget : cluster.budgets()) {
    if (!budget->disruptions_allowed) open.push_back(*budget);
  }
  if (open.empty()) return;
  std::vector<const DisruptionBudget*> budgets;
  budgets.reserve(open.size());
  for (const DisruptionBudget& budget : open) budgets.push_back(&budget);
  const BudgetFinder finder(std::move(budgets));
  BudgetSums<Governed> sums(open.size());
  for (const auto& [alike, count] : count_alike(cluster)) {
    const auto& [plane, namespace_name, labels] = alike;
    sums.add(finder.find(cluster.text(plane), cluster.text(namespace_name),
                         cluster.label_objects(labels)),
             count);
  }
  const std::vector<Governed> governed = std::move(sums).finish();
  for (std::size_t position = 0; position < open.size(); ++position) {
    open[position].disruptions_allowed = allowed(open[position], governed[position]);
    cluster.apply(open[position]);
  }
}

/// Shorter words differ in a letter too easily.
constexpr std::size_t slip_length_min = 6;

std::string plain(std::string_view word) {
  std::string lower(word);
  std::ranges::transform(lower, lower.begin(), lower_byte);
  if (lower.ends_with('s')) lower.pop_back();
  return lower;
}

/// They differ in one letter, which is another one, missing or too much, or in two neighbours that
/// have changed places.
bool differ_by_a_slip(std::string_view a, std::string_view b) {
  if (a.size() > b.size()) std::swap(a, b);
  if (a.size() < slip_length_min || b.size() > a.size() + 1) return false;
  const auto [at_a, at_b] = std::ranges::mismatch(a, b);
  const std::string_view rest_a(at_a, a.end());
  const std::string_view rest_b(at_b, b.end());
  if (a.size() < b.size()) return rest_a == rest_b.substr(1);
  if (rest_a.empty() || rest_a.substr(1) == rest_b.substr(1)) return true;
  return rest_a[0] == rest_b[1] && rest_a[1] == rest_b[0] && rest_a.substr(2) == rest_b.substr(2);
}

bool looks_like(std::string_view kind, std::string_view wanted) {
  const std::string one = plain(kind);
  const std::string other = plain(wanted);
  return one == other || differ_by_a_slip(one, other);
}

/// What is read instead, "v1 Pod"; empty: it looks like nothing.
std::string meant_by(std::string_view api_version, std::string_view kind) {
  for (const KindRow& row : kind_rows) {
    if (!is_own(row) && looks_like(kind, row.name)) {
      return fmt::format("{} {}", row.api_version, row.name);
    }
  }
  if (is_unsupported_workload(api_version, kind)) return {};
  for (const WorkloadKindName& row : pod_making_kind_names()) {
    if (!looks_like(kind, row.name)) continue;
    return row.api_group.empty() ? fmt::format("v1 {}", row.name)
                                 : fmt::format("{} of {}", row.name, row.api_group);
  }
  return {};
}

/// Kinds that were skipped although they look like one that is read: a misspelling, or an API of
/// another project. Without a report it would go unnoticed that such an object asks for nothing.
/// `skipped`: how often, by "apiVersion kind".
void warn_of_kind_slips(const std::map<std::string, std::uint64_t>& skipped, Problems& warnings) {
  for (const auto& [name, count] : skipped) {
    const std::size_t blank = name.rfind(' ');
    if (blank == std::string::npos) continue;
    const std::string meant =
        meant_by(std::string_view(name).substr(0, blank), std::string_view(name).substr(blank + 1));
    if (meant.empty()) continue;
    warnings.push_back({.severity = Severity::warning,
                        .value = name,
                        .message = fmt::format("skipped ({})", count),
                        .remedy = fmt::format("what is read is {}", meant)});
  }
}

/// An object that waits until all nodes are known.
struct HeldBack {
  Change object;
  Origin origin;
  std::string plane;
};

/// How the names of what a feed gives begin.
constexpr std::string_view feed_prefix = "live: ";

Problem too_many_names(const Change& object, const Origin& origin) {
  return {.origin = origin,
          .object = object_text(object),
          .message = fmt::format("the input names more than {} different resources, and no node "
                                 "offers one that it asks for",
                                 resource_names_max),
          .remedy = "correct the name of the resource"};
}

/// Collects objects into a cluster and remembers where each came from.
class Loader final : public ObjectSink {
 public:
  explicit Loader(LoadOptions options) : options_(std::move(options)) { cluster_.begin_bulk(); }

  void text(std::string_view padded_text, std::string_view name);
  void refuse(Problem problem) { report_.problems.push_back(std::move(problem)); }
  /// Of one object: the others go on where that is wanted.
  void refuse_object(Problem problem);
  /// What is read from now on belongs to it.
  void enter(std::string_view plane) { plane_ = plane; }
  /// Everything besides the files, once they are read.
  void take_feed();
  LoadResult finish();
  LoadStatistics& statistics() { return statistics_; }

  void object(const Change& object, const Origin& origin) override;
  void own_document(std::string_view kind, std::string_view json, const Origin& origin) override;
  void workload(const ObjectType& type, std::string_view json, const Origin& origin) override;

 private:
  void take(const Change& object, const Origin& origin);
  void take_held_back();
  bool is_replaced(const Change& object);
  void take_late_pods();
  void refuse_objects(Problems problems);
  void make_pods();
  void find_what_is_wrong();
  bool exists(const Change& object) const;
  void count_resources(const Change& object, const Origin& origin);
  bool made(const Change& object, const TemplatePlace& place);
  void repeated(const Change& object, const Origin& origin);
  void warn_of_own_kind(const Change& object, const Origin& origin);

  LoadOptions options_;
  std::string plane_;
  Cluster cluster_;
  ObjectDecoder decoder_;
  DecodeReport report_;
  LoadStatistics statistics_;
  std::optional<ConfigurationDocument> configuration_;
  Origin configuration_origin_;
  ObjectOrigins origins_;
  Workloads workloads_;
  std::vector<ResourceQuota> quotas_;
  std::vector<WorkloadPods> workload_pods_;
  ReplicaSetOwners replica_sets_;
  bool too_many_resources_ = false;
  std::vector<HeldBack> held_back_;
  std::vector<HeldBack> late_pods_;  ///< Of files, where there is a feed.
  bool is_fed_ = false;              ///< What is read comes from the feed.
  bool is_late_ = false;             ///< All else is there.
  bool has_files_ = false;           ///< Besides the feed.
  ResourceNames resource_names_;
};

void Loader::text(std::string_view padded_text, std::string_view name) {
  if (padded_text.find_first_not_of(" \t\r\n") == std::string_view::npos) {
    const bool input = name == "-";
    return refuse({.origin = {.source = std::string(name)},
                   .message = input ? "standard input is empty" : "the file is empty",
                   .remedy = input ? "did the command before it fail?" : "leave it out"});
  }
  ++statistics_.files;
  statistics_.bytes += padded_text.size();
  const Origin origin{.source = std::string(name)};
  const DecodeOptions options{.plane = plane_,
                              .keep_going = options_.keep_going,
                              .planes_of_dumps = options_.planes_of_dumps,
                              .unknown_fields = !is_fed_};
  const auto decode = [&](std::string_view json, const Origin& here) {
    decoder_.decode(json, here, *this, report_, options);
    if (options_.hears && plane_.empty()) options_.hears(json);
  };
  if (detect_format(padded_text) == TextFormat::json) return decode(padded_text, origin);
  Problems problems = yaml_documents(padded_text, name, {}, [&](YamlDocument& document) {
    const std::size_t size = document.json.size();
    document.json.append(text_padding, '\0');
    const Origin here{
        .source = std::string(name), .document = document.number, .line = document.line};
    decode(std::string_view(document.json).substr(0, size), here);
  });
  report_.problems.append(std::move(problems));
}

void Loader::refuse_object(Problem problem) {
  if (!options_.keep_going) return refuse(std::move(problem));
  report_.quarantine.add(std::move(problem));
}

void Loader::refuse_objects(Problems problems) {
  if (!options_.keep_going) return report_.problems.append(std::move(problems));
  for (Problem& problem : problems) {
    if (problem.severity == Severity::error) {
      report_.quarantine.add(std::move(problem));
    } else {
      report_.problems.push_back(std::move(problem));
    }
  }
}

void Loader::object(const Change& object, const Origin& origin) {
  if (options_.feed && !is_fed_ && !is_late_ && std::holds_alternative<Pod>(object)) {
    late_pods_.push_back({.object = object, .origin = origin, .plane = plane_});
    return;
  }
  if (options_.keep_going && resource_names_.names_new(object)) {
    held_back_.push_back({.object = object, .origin = origin, .plane = plane_});
    return;
  }
  take(object, origin);
}

/// What names resources that no node offers, once all nodes are known.
void Loader::take_held_back() {
  std::vector<Change*> objects;
  objects.reserve(held_back_.size());
  for (HeldBack& each : held_back_) objects.push_back(&each.object);
  const std::vector<bool> shortened = resource_names_.limit(objects);
  for (std::size_t at = 0; at < held_back_.size(); ++at) {
    HeldBack& each = held_back_[at];
    plane_ = each.plane;
    if (shortened[at]) {
      Problem problem = too_many_names(each.object, each.origin);
      const bool kept = isolate(each.object, problem);
      report_.quarantine.add(std::move(problem));
      if (!kept) continue;
    }
    take(each.object, each.origin);
  }
  held_back_.clear();
}

void Loader::take_feed() {
  if (!options_.feed) return;
  has_files_ = statistics_.files > 0;
  is_fed_ = true;
  report_.problems.append(options_.feed(
      [this](std::string_view name, std::string_view padded_text, std::string_view plane) {
        plane_ = plane;
        text(padded_text, name);
      }));
  plane_.clear();
  is_fed_ = false;
  take_late_pods();
}

void Loader::take_late_pods() {
  is_late_ = true;
  for (const HeldBack& each : late_pods_) {
    plane_ = each.plane;
    const auto& pod = std::get<Pod>(each.object);
    if (!cluster_.find_pod(pod.namespace_name, pod.name, pod.plane)) {
      object(each.object, each.origin);
      continue;
    }
    const std::string name = object_text(each.object);
    if (origins_.find(name, cluster_).source.starts_with(feed_prefix)) {
      report_.problems.push_back({.severity = Severity::warning,
                                  .origin = each.origin,
                                  .object = name,
                                  .message = "the cluster has it already; that one counts",
                                  .remedy = "give it another name if a second one is meant"});
    } else {
      repeated(each.object, each.origin);
    }
  }
  late_pods_.clear();
}

/// Whether a file says what becomes of an object of the feed.
bool Loader::is_replaced(const Change& object) {
  if (!has_files_ || std::holds_alternative<Pod>(object)) return false;
  const std::string name = object_text(object);
  const Origin first = origins_.find(name, cluster_);
  if (first.source.empty() || first.source.starts_with(feed_prefix)) return false;
  report_.problems.push_back({.severity = Severity::warning,
                              .origin = first,
                              .object = name,
                              .message = "it replaces that of the cluster in this plan"});
  return true;
}

void Loader::take(const Change& object, const Origin& origin) {
  if (is_fed_ && is_replaced(object)) return;
  if (!cluster_.apply(object)) return repeated(object, origin);
  origins_.add(object, origin, cluster_);
  if (!plane_.empty()) warn_of_own_kind(object, origin);
  count_resources(object, origin);
}

void Loader::workload(const ObjectType& type, std::string_view json, const Origin& origin) {
  Problems problems = workloads_.add(type.api_group, type.kind, json, origin, plane_);
  if (!has_errors(problems)) ++report_.objects;
  refuse_objects(std::move(problems));
}

bool Loader::made(const Change& object, const TemplatePlace& place) {
  if (exists(object)) return false;
  if (options_.keep_going && cluster_.resources().size() >= resource_names_max &&
      resource_names_.names_new(object)) {
    report_.quarantine.add(too_many_names(object, place.origin));
    return true;
  }
  cluster_.apply(object);
  origins_.add_made(object, place, cluster_);
  count_resources(object, place.origin);
  return true;
}

/// The pods of workloads, once everything that they depend on is known.
void Loader::make_pods() {
  Expanded expanded = workloads_.expand(
      cluster_, options_.asked,
      [this](const Change& object, const TemplatePlace& place) { return made(object, place); });
  refuse_objects(std::move(expanded.problems));
  Problems quota_problems;
  quotas_ = workloads_.quotas(quota_problems);
  refuse_objects(std::move(quota_problems));
  workload_pods_ = std::move(expanded.workloads);
  replica_sets_ = std::move(expanded.replica_sets);
  for (auto& [index, shares] : expanded.losses) {
    Pod pod = cluster_.pod(index);
    pod.notes.loss_units = std::move(shares);
    normalize(pod);
    cluster_.apply(pod);
  }
}

/// Whether the store has one of that name; only for kinds that are made.
bool Loader::exists(const Change& object) const {
  if (const Pod* const pod = std::get_if<Pod>(&object)) {
    return cluster_.find_pod(pod->namespace_name, pod->name).has_value();
  }
  if (const auto* const claim = std::get_if<PersistentVolumeClaim>(&object)) {
    return cluster_.own<PersistentVolumeClaim>().contains(key_of(*claim));
  }
  const auto& group = std::get<PodGroup>(object);
  const std::optional<GroupIndex> found = cluster_.find_group(group.namespace_name, group.name);
  return found && cluster_.groups()[*found].object.has_value();
}

void Loader::count_resources(const Change& object, const Origin& origin) {
  if (cluster_.resources().size() <= resource_names_max || too_many_resources_) return;
  if (options_.keep_going) return;  // Only what nodes offer is more.
  too_many_resources_ = true;       // Every name is a column of the store; say it once.
  refuse({.origin = origin,
          .object = object_text(object),
          .message =
              fmt::format("the input names more than {} different resources", resource_names_max),
          .remedy = "split the input"});
}

void Loader::repeated(const Change& object, const Origin& origin) {
  const std::string name = object_text(object);
  const Origin first = origins_.find(name, cluster_);
  refuse_object(
      {.origin = origin,
       .object = name,
       .message = fmt::format(
           "it is defined twice; the other definition is in {}{}", first.source,
           first.document == 0 ? std::string() : fmt::format(", document {}", first.document)),
       .remedy = "remove one of them"});
}

/// Asks, queues and all else we schedule by are at home; in other planes they are not read.
void Loader::warn_of_own_kind(const Change& object, const Origin& origin) {
  const KindRow& row = kind_rows[object.index()];
  if (!is_own(row)) return;
  report_.problems.push_back({.severity = Severity::warning,
                              .origin = origin,
                              .object = object_text(object),
                              .message = fmt::format("a {} in a plane is not read", row.name),
                              .remedy = "give it with -f"});
}

void Loader::own_document(std::string_view kind, std::string_view json, const Origin& origin) {
  if (kind != "Configuration") {
    return refuse_object(
        {.origin = origin,
         .field = "kind",
         .value = shorten(kind),
         .message = "this version knows no such kind of makeway.dev/v1",
         .remedy = fmt::format("known kinds: {}", fmt::join(own_kind_names(), ", "))});
  }
  // Live, none among the objects counts (SPEC section 10), so a wrong one is just a bad object.
  const bool counts = !options_.keep_going || options_.planes_of_dumps;
  const auto wrong = [&](Problem problem) {
    return counts ? refuse(std::move(problem)) : refuse_object(std::move(problem));
  };
  if (configuration_) {
    return wrong({.origin = origin,
                  .object = "Configuration",
                  .message = fmt::format("there is another Configuration in {}",
                                         configuration_origin_.source),
                  .remedy = "keep one, or name it with --config"});
  }
  auto tree = parse_json_value(json);
  if (!tree) {
    Problem problem = std::move(tree.error());
    problem.origin = origin;
    return wrong(std::move(problem));
  }
  ConfigurationReading reading = read_configuration(*tree, MissingKnobs::take_defaults, origin);
  if (reading.document) {
    configuration_ = std::move(reading.document);
    configuration_origin_ = origin;
    ++report_.objects;
  }
  if (counts) return report_.problems.append(std::move(reading.problems));
  for (const Problem& problem : reading.problems) refuse_object(problem);
}

/// Pods may name them, and nothing would say that they mean nothing.
void warn_of_other_queues(const std::map<std::string, std::uint64_t>& skipped, Problems& warnings) {
  constexpr std::array<std::string_view, 4> kinds = {"Queue", "ClusterQueue", "LocalQueue",
                                                     "Cohort"};
  for (const auto& [name, count] : skipped) {
    const std::string_view kind = std::string_view(name).substr(name.rfind(' ') + 1);
    if (std::ranges::find(kinds, kind) == kinds.end()) continue;
    warnings.push_back({.severity = Severity::warning,
                        .value = name,
                        .message = fmt::format(
                            "skipped ({}): shares of other schedulers' queues do not count", count),
                        .remedy = fmt::format("write a Queue of {} with the share that is meant",
                                              own_api_version)});
  }
}

/// Of the cluster as a whole.
void Loader::find_what_is_wrong() {
  if (options_.keep_going) {
    Quarantine found;
    quarantine_errors(cluster_, found);
    origins_.locate(found.problems(), cluster_);
    report_.quarantine.append(std::move(found));
  }
  Problems errors = find_errors(cluster_);
  // Marks that count as absent anyway may still be reported.
  if (options_.keep_going) errors.drop_errors();
  origins_.locate(errors, cluster_);
  report_.problems.append(std::move(errors));
}

LoadResult Loader::finish() {
  LoadResult result;
  take_held_back();
  make_pods();
  Problems& problems = report_.problems;
  if (!has_errors(problems)) {
    cluster_.finish_bulk();
    fill_budget_status(cluster_);
    hold_beyond_quotas(quotas_, cluster_);
    find_what_is_wrong();
  }
  if (has_errors(problems)) {
    result.problems = std::move(problems);
    return result;
  }
  statistics_.objects = report_.objects;
  statistics_.finished_pods = report_.finished_pods;
  statistics_.skipped = std::move(report_.skipped);
  warn_of_kind_slips(statistics_.skipped, problems);
  warn_of_other_queues(statistics_.skipped, problems);
  result.loaded = Loaded{.cluster = std::move(cluster_),
                         .origins = std::move(origins_),
                         .configuration = std::move(configuration_),
                         .statistics = std::move(statistics_),
                         .warnings = std::move(problems),
                         .quarantine = std::move(report_.quarantine),
                         .workloads = std::move(workload_pods_),
                         .replica_sets = std::move(replica_sets_)};
  return result;
}

Problem failure(std::string source, std::string message) {
  return {.origin = {.source = std::move(source)}, .message = std::move(message)};
}

}  // namespace

void ObjectOrigins::add(const Change& object, const Origin& origin, const Cluster& cluster) {
  if (documents_.empty() || documents_.back() != origin) documents_.push_back(origin);
  const auto document = static_cast<std::uint32_t>(documents_.size() - 1);
  if (const Pod* const pod = std::get_if<Pod>(&object)) {
    if (!cluster.kernel_rows().empty()) {
      const auto slot = cluster.find_pod(pod->namespace_name, pod->name, pod->plane);
      if (slot) document_of_pod_.resize(slot->value);  // Kernels are rows as well.
    }
    document_of_pod_.push_back(document);
    template_of_pod_.resize(document_of_pod_.size());
  } else {
    document_of_object_.emplace(object_text(object), document);
  }
}

void ObjectOrigins::add_made(const Change& object, const TemplatePlace& place,
                             const Cluster& cluster) {
  add(object, place.origin, cluster);
  if (!std::holds_alternative<Pod>(object)) return;
  Place here{.object = std::string(place.object), .field = std::string(place.field)};
  if (places_.empty() || places_.back() != here) places_.push_back(std::move(here));
  template_of_pod_.back() = static_cast<std::uint32_t>(places_.size());
}

/// Of a pod, by its name in messages.
std::optional<std::size_t> ObjectOrigins::slot_of(std::string_view object,
                                                  const Cluster& cluster) const {
  const std::size_t end = object.find(of_plane);
  const std::string_view key = object.substr(0, end);
  const std::size_t slash = key.find('/');
  if (!object.starts_with("Pod ") || slash == std::string_view::npos) return std::nullopt;
  const std::string_view plane =
      end == std::string_view::npos ? std::string_view{} : object.substr(end + of_plane.size());
  const auto pod = cluster.find_pod(key.substr(4, slash - 4), key.substr(slash + 1), plane);
  if (!pod || pod->value >= document_of_pod_.size()) return std::nullopt;
  return pod->value;
}

Origin ObjectOrigins::find(std::string_view object, const Cluster& cluster) const {
  const auto found = document_of_object_.find(object);
  if (found != document_of_object_.end()) return documents_[found->second];
  const std::optional<std::size_t> slot = slot_of(object, cluster);
  return slot ? documents_[document_of_pod_[*slot]] : Origin{};
}

void ObjectOrigins::locate(Problems& problems, const Cluster& cluster) const {
  std::set<std::tuple<std::string, std::string, std::string>> reported;
  problems.erase_if([&](Problem& problem) {
    problem.origin = find(problem.object, cluster);
    if (places_.empty() || problem.field.starts_with("--")) return false;  // Of an option.
    const std::optional<std::size_t> slot = slot_of(problem.object, cluster);
    if (!slot || template_of_pod_[*slot] == 0) return false;
    const Place& place = places_[template_of_pod_[*slot] - 1];
    problem.object = place.object;
    problem.field =
        problem.field.empty() ? place.field : fmt::format("{}.{}", place.field, problem.field);
    return !reported.emplace(problem.object, problem.field, problem.message).second;
  });
}

LoadResult load(std::span<const LoadSource> sources, const LoadProgress& progress,
                const LoadOptions& options) {
  Loader loader(options);
  // By plane, home first: a folder of one may lie below that of another.
  std::map<std::string_view, std::vector<std::string>> paths;
  for (const LoadSource& source : sources) paths[source.plane].push_back(source.path);
  std::vector<std::pair<std::string_view, SourceFile>> files;
  for (const auto& [plane, own_paths] : paths) {
    Result<std::vector<SourceFile>> listed = list_sources(own_paths);
    if (!listed) {
      loader.refuse(failure({}, listed.error().message));
      return loader.finish();
    }
    for (SourceFile& file : *listed) files.emplace_back(plane, std::move(file));
  }
  for (const auto& [plane, file] : files) {
    if (progress)
      progress({.files_done = loader.statistics().files,
                .files = files.size(),
                .bytes_done = loader.statistics().bytes,
                .file = file.path});
    loader.enter(plane);
    const Result<SourceText> source = read_source(file, options.limits);
    if (source) {
      loader.text(source->text.view(), source->name);
    } else {
      loader.refuse(failure({}, source.error().message));
    }
  }
  loader.take_feed();
  return loader.finish();
}

LoadResult load_text(std::string_view text, std::string_view name, std::string_view plane,
                     const LoadOptions& options) {
  Loader loader(options);
  loader.enter(plane);
  const PaddedText padded(text);
  loader.text(padded.view(), name);
  loader.take_feed();
  return loader.finish();
}

}  // namespace makeway
