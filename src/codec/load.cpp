#include "codec/load.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <set>
#include <tuple>

#include "codec/budget_status.hpp"
#include "codec/decode.hpp"
#include "codec/fields.hpp"
#include "codec/json_value.hpp"
#include "codec/source.hpp"
#include "codec/yaml.hpp"
#include "model/object_text.hpp"
#include "model/validation/validation.hpp"

namespace makeway {
namespace {

/// Different names of resources in one cluster; real ones have a few dozen.
constexpr std::size_t resource_names_max = 256;

/// Collects objects into a cluster and remembers where each came from.
class Loader final : public ObjectSink {
 public:
  Loader() { cluster_.begin_bulk(); }

  void text(std::string_view padded_text, std::string_view name);
  void refuse(Problem problem) { report_.problems.push_back(std::move(problem)); }
  /// What is read from now on belongs to it.
  void enter(std::string_view plane) { plane_ = plane; }
  LoadResult finish();
  LoadStatistics& statistics() { return statistics_; }

  void object(const Change& object, const Origin& origin) override;
  void own_document(std::string_view kind, std::string_view json, const Origin& origin) override;
  void workload(const ObjectType& type, std::string_view json, const Origin& origin) override;
  void ask_for(std::span<const AskedWorkload> asked) { asked_ = asked; }

 private:
  void make_pods();
  bool exists(const Change& object) const;
  void count_resources(const Change& object, const Origin& origin);
  bool made(const Change& object, const TemplatePlace& place);
  void repeated(const Change& object, const Origin& origin);
  void warn_of_own_kind(const Change& object, const Origin& origin);

  std::string plane_;
  Cluster cluster_;
  ObjectDecoder decoder_;
  DecodeReport report_;
  LoadStatistics statistics_;
  std::optional<ConfigurationDocument> configuration_;
  Origin configuration_origin_;
  ObjectOrigins origins_;
  Workloads workloads_;
  std::vector<WorkloadPods> workload_pods_;
  std::span<const AskedWorkload> asked_;
  bool too_many_resources_ = false;
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
  if (detect_format(padded_text) == TextFormat::json) {
    decoder_.decode(padded_text, origin, *this, report_, plane_);
    return;
  }
  Problems problems = yaml_documents(padded_text, name, {}, [&](YamlDocument& document) {
    const std::size_t size = document.json.size();
    document.json.append(text_padding, '\0');
    const Origin here{
        .source = std::string(name), .document = document.number, .line = document.line};
    decoder_.decode(std::string_view(document.json).substr(0, size), here, *this, report_, plane_);
  });
  report_.problems.append(std::move(problems));
}

void Loader::object(const Change& object, const Origin& origin) {
  if (!cluster_.apply(object)) return repeated(object, origin);
  origins_.add(object, origin, cluster_);
  if (!plane_.empty()) warn_of_own_kind(object, origin);
  count_resources(object, origin);
}

void Loader::workload(const ObjectType& type, std::string_view json, const Origin& origin) {
  Problems problems = workloads_.add(type.api_group, type.kind, json, origin, plane_);
  if (!has_errors(problems)) ++report_.objects;
  report_.problems.append(std::move(problems));
}

bool Loader::made(const Change& object, const TemplatePlace& place) {
  if (exists(object)) return false;
  cluster_.apply(object);
  origins_.add_made(object, place, cluster_);
  count_resources(object, place.origin);
  return true;
}

/// The pods of workloads, once everything that they depend on is known.
void Loader::make_pods() {
  Expanded expanded = workloads_.expand(
      cluster_, asked_,
      [this](const Change& object, const TemplatePlace& place) { return made(object, place); });
  report_.problems.append(std::move(expanded.problems));
  workload_pods_ = std::move(expanded.workloads);
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
  too_many_resources_ = true;  // Every name is a column of the store; say it once.
  refuse({.origin = origin,
          .object = object_text(object),
          .message =
              fmt::format("the input names more than {} different resources", resource_names_max),
          .remedy = "split the input"});
}

void Loader::repeated(const Change& object, const Origin& origin) {
  const std::string name = object_text(object);
  const Origin first = origins_.find(name, cluster_);
  refuse({.origin = origin,
          .object = name,
          .message = fmt::format(
              "it is defined twice; the other definition is in {}{}", first.source,
              first.document == 0 ? std::string() : fmt::format(", document {}", first.document)),
          .remedy = "remove one of them"});
}

/// Asks, queues and what else we schedule by are at home; in a plane nobody reads them.
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
    return refuse({.origin = origin,
                   .field = "kind",
                   .value = shorten(kind),
                   .message = "this version knows no such kind of makeway.dev/v1",
                   .remedy = fmt::format("known kinds: {}", fmt::join(own_kind_names(), ", "))});
  }
  if (configuration_) {
    return refuse({.origin = origin,
                   .object = "Configuration",
                   .message = fmt::format("there is another Configuration in {}",
                                          configuration_origin_.source),
                   .remedy = "keep one, or name it with --config"});
  }
  auto tree = parse_json_value(json);
  if (!tree) {
    Problem problem = std::move(tree.error());
    problem.origin = origin;
    return refuse(std::move(problem));
  }
  ConfigurationReading reading = read_configuration(*tree, MissingKnobs::take_defaults, origin);
  if (reading.document) {
    configuration_ = std::move(reading.document);
    configuration_origin_ = origin;
    ++report_.objects;
  }
  report_.problems.append(std::move(reading.problems));
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

/// Kinds that were skipped although they look like one that is read: a slip of the pen, or an API
/// of somebody else.
void warn_of_near_misses(const std::map<std::string, std::uint64_t>& skipped, Problems& warnings) {
  const auto lower = [](char byte) {
    return byte >= 'A' && byte <= 'Z' ? static_cast<char>(byte - 'A' + 'a') : byte;
  };
  for (const auto& [name, count] : skipped) {
    std::string_view kind = std::string_view(name).substr(name.rfind(' ') + 1);
    if (kind.ends_with('s')) kind.remove_suffix(1);
    for (const KindRow& candidate : kind_rows) {
      if (is_own(candidate)) continue;
      std::string_view wanted = candidate.name;
      if (wanted.ends_with('s')) wanted.remove_suffix(1);
      if (!std::ranges::equal(kind, wanted, {}, lower, lower)) continue;
      warnings.push_back(
          {.severity = Severity::warning,
           .value = name,
           .message = fmt::format("skipped ({})", count),
           .remedy = fmt::format("what is read is {} {}", candidate.api_version, candidate.name)});
    }
  }
}

LoadResult Loader::finish() {
  LoadResult result;
  make_pods();
  Problems& problems = report_.problems;
  if (!has_errors(problems)) {
    cluster_.finish_bulk();
    fill_budget_status(cluster_);
    Problems errors = find_errors(cluster_);
    origins_.locate(errors, cluster_);
    problems.append(std::move(errors));
  }
  if (has_errors(problems)) {
    result.problems = std::move(problems);
    return result;
  }
  statistics_.objects = report_.objects;
  statistics_.finished_pods = report_.finished_pods;
  statistics_.skipped = std::move(report_.skipped);
  warn_of_near_misses(statistics_.skipped, problems);
  warn_of_other_queues(statistics_.skipped, problems);
  result.loaded = Loaded{.cluster = std::move(cluster_),
                         .origins = std::move(origins_),
                         .configuration = std::move(configuration_),
                         .statistics = std::move(statistics_),
                         .warnings = std::move(problems),
                         .workloads = std::move(workload_pods_)};
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
  std::set<std::tuple<std::string, std::string, std::string>> told;
  problems.erase_if([&](Problem& problem) {
    problem.origin = find(problem.object, cluster);
    if (places_.empty() || problem.field.starts_with("--")) return false;  // Of an option.
    const std::optional<std::size_t> slot = slot_of(problem.object, cluster);
    if (!slot || template_of_pod_[*slot] == 0) return false;
    const Place& place = places_[template_of_pod_[*slot] - 1];
    problem.object = place.object;
    problem.field =
        problem.field.empty() ? place.field : fmt::format("{}.{}", place.field, problem.field);
    return !told.emplace(problem.object, problem.field, problem.message).second;
  });
}

LoadResult load(std::span<const LoadSource> sources, const LoadProgress& progress,
                const LoadWish& wish) {
  Loader loader;
  loader.ask_for(wish.asked);
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
    const Result<SourceText> source = read_source(file, wish.limits);
    if (source) {
      loader.text(source->text.view(), source->name);
    } else {
      loader.refuse(failure({}, source.error().message));
    }
  }
  return loader.finish();
}

LoadResult load_text(std::string_view text, std::string_view name, std::string_view plane) {
  Loader loader;
  loader.enter(plane);
  const PaddedText padded(text);
  loader.text(padded.view(), name);
  return loader.finish();
}

}  // namespace makeway
