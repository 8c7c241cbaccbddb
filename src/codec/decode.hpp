// Decoding: JSON text in, objects out, problems collected.
//
// One text may hold several documents, and a document may be an object, a `List` of mixed kinds or
// a typed list as the API server answers it (PodList: its items have no kind of their own). Kinds
// that scheduling does not read are counted and skipped. Pods that have finished hold nothing and
// are left out, counted as well. The cost is dominated by finding the structure of the text (see
// docs/performance.md); fields that are not read are skipped without being parsed.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "base/problem.hpp"
#include "model/objects.hpp"
#include "model/validation/quarantine.hpp"

namespace makeway {

struct ObjectType {
  std::string_view api_group;  ///< Empty: the core of Kubernetes.
  std::string_view kind;
};

/// Receives the objects of a text, in the order of the text.
class ObjectSink {
 public:
  ObjectSink() = default;
  ObjectSink(const ObjectSink&) = delete;
  ObjectSink& operator=(const ObjectSink&) = delete;
  virtual ~ObjectSink() = default;

  virtual void object(const Change& object, const Origin& origin) = 0;
  /// A document of ours (apiVersion makeway.dev/v1), as JSON text.
  virtual void own_document(std::string_view kind, std::string_view json, const Origin& origin) = 0;
  /// An object whose controller makes pods (workloads/workloads.hpp), as JSON text.
  virtual void workload(const ObjectType& type, std::string_view json, const Origin& origin) = 0;
};

struct DecodeReport {
  Problems problems;
  Quarantine quarantine;  ///< Errors of single objects, where the others go on.
  std::map<std::string, std::uint64_t> skipped;  ///< "apps/v1 Deployment" -> how many.
  std::uint64_t finished_pods = 0;
  std::uint64_t objects = 0;
  std::size_t looked_at = 0;  ///< For unknown fields.

  /// Different kinds that are counted by name; what comes later is counted together.
  static constexpr std::size_t skipped_kinds_max = 100;
  static constexpr std::string_view other_kinds = "of other kinds";
  void skip(std::string kind);
};

struct DecodeOptions {
  /// The plane of the objects; empty: home, unless an object says otherwise, as in a dump.
  std::string_view plane;
  /// Law 13: what is wrong with one object is put into quarantine, and the rest of it is taken.
  bool keep_going = false;
  /// Whether an object itself may say in which plane it is, and what stops with it, as in a dump.
  bool planes_of_dumps = true;
  /// Warns of fields that Kubernetes does not have (unknown_fields.hpp).
  bool unknown_fields = false;
};

/// Keeps its buffers from text to text. Not thread-safe; use one per thread.
class ObjectDecoder {
 public:
  ObjectDecoder();
  ObjectDecoder(const ObjectDecoder&) = delete;
  ObjectDecoder& operator=(const ObjectDecoder&) = delete;
  ~ObjectDecoder();

  /// `text` is followed by at least 64 readable bytes (see PaddedText).
  void decode(std::string_view text, const Origin& origin, ObjectSink& sink, DecodeReport& report,
              const DecodeOptions& options = {});

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace makeway
