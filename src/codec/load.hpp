// Loading: files, folders and standard input become one checked Cluster, or a list of problems.
//
// All or nothing: with a single error nothing is handed out (law 13). Objects are found by name, so
// the order of files and documents means nothing; an object that is there twice is an error. What
// only refers to something missing is kept (see Cluster), what cannot be decided is refused: an
// unknown priority class, a preemption priority below the scheduling priority.
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
#include "model/cluster.hpp"

namespace makeway {

struct LoadStatistics {
  std::uint64_t files = 0;
  std::uint64_t bytes = 0;  ///< Of text, after decompression.
  std::uint64_t objects = 0;
  std::uint64_t finished_pods = 0;               ///< Succeeded or Failed: they hold nothing.
  std::map<std::string, std::uint64_t> skipped;  ///< Kinds that nobody here reads.
};

/// Where each object came from. Four bytes a pod.
class ObjectOrigins {
 public:
  void add(const Change& object, const Origin& origin);
  /// By its name in messages ("Pod shop/web-1"); empty when unknown.
  Origin find(std::string_view object, const Cluster& cluster) const;
  /// Fills in the origin of problems that name an object.
  void locate(Problems& problems, const Cluster& cluster) const;

 private:
  // A pod's slot in a fresh store is its number, so its document is found by slot; the other kinds
  // are few enough for a map by name.
  std::vector<Origin> documents_;
  std::vector<std::uint32_t> document_of_pod_;
  std::map<std::string, std::uint32_t, std::less<>> document_of_object_;
};

struct Loaded {
  Cluster cluster;
  ObjectOrigins origins;
  std::optional<ConfigurationDocument> configuration;  ///< At most one may be among the files.
  LoadStatistics statistics;
  Problems warnings;  ///< Never errors.
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

/// `progress` hears of every file.
LoadResult load(std::span<const LoadSource> sources, const LoadProgress& progress = {},
                const UnpackLimits& limits = {});

/// One text that is already in memory; `name` stands for the file in messages.
LoadResult load_text(std::string_view text, std::string_view name, std::string_view plane = {});

}  // namespace makeway
