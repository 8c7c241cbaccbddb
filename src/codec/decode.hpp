// Decoding: JSON text in, objects out, problems collected.
//
// One text may hold several documents, and a document may be an object, a `List` of mixed kinds or
// a typed list as the API server answers it (PodList: its items have no kind of their own). Kinds
// that scheduling does not read are counted and skipped. Pods that have finished hold nothing and
// are left out, counted as well. The cost is dominated by finding the structure of the text (see
// docs/performance.md); what nobody reads is skipped without being looked at.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "base/problem.hpp"
#include "model/objects.hpp"

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
  Problems problems;                    ///< Errors: the first `problems_max` of them.
  std::uint64_t problems_left_out = 0;  ///< How many more there were.
  Problems warnings;                    ///< The same; none of them hides an error.
  std::uint64_t warnings_left_out = 0;
  std::map<std::string, std::uint64_t> skipped;  ///< "apps/v1 Deployment" -> how many.
  std::uint64_t finished_pods = 0;
  std::uint64_t objects = 0;

  static constexpr std::size_t problems_max = 100;
  void add(Problems more);
};

/// Keeps its buffers from text to text. Not thread-safe; use one per thread.
class ObjectDecoder {
 public:
  ObjectDecoder();
  ObjectDecoder(const ObjectDecoder&) = delete;
  ObjectDecoder& operator=(const ObjectDecoder&) = delete;
  ~ObjectDecoder();

  /// `text` is followed by at least 64 readable bytes (see PaddedText). What it holds belongs to
  /// `plane`; empty: home, unless an object says otherwise, as in a dump.
  void decode(std::string_view text, const Origin& origin, ObjectSink& sink, DecodeReport& report,
              std::string_view plane = {});

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace makeway
