// Loading: files, folders and standard input become one checked Cluster, or a list of problems.
//
// All or nothing: with a single error nothing is handed out (law 13). Objects are found by name, so
// the order of files and documents means nothing; an object that is there twice is an error. What
// only refers to something missing is kept (see Cluster), what cannot be decided is refused: an
// unknown priority class, a preemption priority below the scheduling priority. With `keep_going`
// the caller gets the cluster without what is wrong (quarantine.hpp); a text that cannot be read, a
// wrong Configuration and a missing file still end it, since it is unknown what they hide.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/problem.hpp"
#include "codec/configuration_codec.hpp"
#include "codec/source.hpp"
#include "codec/workloads/workloads.hpp"
#include "model/cluster.hpp"
#include "model/validation/quarantine.hpp"

namespace makeway {

struct LoadStatistics {
  std::uint64_t files = 0;
  std::uint64_t bytes = 0;  ///< Of text, after decompression.
  std::uint64_t objects = 0;
  std::uint64_t finished_pods = 0;               ///< Succeeded or Failed: they hold nothing.
  std::map<std::string, std::uint64_t> skipped;  ///< Kinds that are not read here.
};

/// Where each object came from. Eight bytes a pod.
class ObjectOrigins {
 public:
  /// The cluster has it already.
  void add(const Change& object, const Origin& origin, const Cluster& cluster);
  /// An object that was made from a template.
  void add_made(const Change& object, const TemplatePlace& place, const Cluster& cluster);
  /// By its name in messages ("Pod shop/web-1"); empty when unknown.
  Origin find(std::string_view object, const Cluster& cluster) const;
  /// Fills in the origin of problems that name an object. What is wrong with pods that were made
  /// from a template is reported once, of the template.
  void locate(Problems& problems, const Cluster& cluster) const;

 private:
  // A pod's slot in a fresh store is its number among pods and kernels, so its document is found by
  // slot; the other kinds are few enough for a map by name.
  std::vector<Origin> documents_;
  struct Place {
    std::string object;
    std::string field;

    friend bool operator==(const Place&, const Place&) = default;
  };
  std::optional<std::size_t> slot_of(std::string_view object, const Cluster& cluster) const;

  std::vector<std::uint32_t> document_of_pod_;
  std::vector<std::uint32_t> template_of_pod_;  ///< 0: it was not made; else one above its place.
  std::vector<Place> places_;
  std::map<std::string, std::uint32_t, std::less<>> document_of_object_;
};

struct Loaded {
  Cluster cluster;
  ObjectOrigins origins;
  std::optional<ConfigurationDocument> configuration;  ///< At most one may be among the files.
  LoadStatistics statistics;
  Problems warnings;                    ///< Never errors.
  Quarantine quarantine;                ///< Empty unless LoadOptions says to keep going.
  std::vector<WorkloadPods> workloads;  ///< Their pods are in the cluster, made or not.
  ReplicaSetOwners replica_sets;        ///< As the ReplicaSets of the input say.
};

/// Either `loaded`, or `problems` with at least one error.
struct LoadResult {
  std::optional<Loaded> loaded;
  Problems problems;
};

struct LoadStep {
  std::uint64_t files_done = 0;
  std::uint64_t files = 0;
  std::uint64_t bytes_done = 0;
  std::string_view file;  ///< About to be read.
};
using LoadProgress = std::function<void(const LoadStep&)>;

/// Files whose objects belong to one plane.
struct LoadSource {
  std::string path;   ///< A file or folder; "-" is standard input.
  std::string plane;  ///< Empty: home, or what an object of a dump says.
};

/// Takes a text that is followed by padding; `name` stands for the file in messages and begins with
/// "live: ". An empty plane is home.
using TextTaker = std::function<void(std::string_view name, std::string_view padded_text,
                                     std::string_view plane)>;
/// Gives texts that are in no file, as those of a live cluster, and returns what went wrong.
using TextFeed = std::function<Problems(const TextTaker&)>;

struct LoadOptions {
  UnpackLimits limits;                   ///< How much a packed file may become.
  std::span<const AskedWorkload> asked;  ///< Pods are made of these even if suspended.
  bool keep_going = false;               ///< Law 13: one bad object does not stop the others.
  bool planes_of_dumps = true;           ///< See DecodeOptions.
  /// What is there besides the files; may be empty. The files say what would be added: of
  /// what both have, a pod is the feed's, since a pod is not submitted twice, and all else the
  /// files'.
  TextFeed feed;
  /// Receives every text of the home plane as the decoder gets it: JSON that is followed by
  /// padding. For what the store does not keep; may be empty.
  std::function<void(std::string_view padded_json)> hears;
};

/// `progress` is called with every file.
LoadResult load(std::span<const LoadSource> sources, const LoadProgress& progress = {},
                const LoadOptions& options = {});

/// One text that is already in memory; `name` stands for the file in messages.
LoadResult load_text(std::string_view text, std::string_view name, std::string_view plane = {},
                     const LoadOptions& options = {});

}  // namespace makeway
