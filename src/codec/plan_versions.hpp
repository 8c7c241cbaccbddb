// Of what a plan names: which object it was, and in which state, for carrying it out later.
//
// The store keeps no versions, since no decision may depend on them; so they are read off the same
// texts beside it. They are no part of a plan's id: the same decision has the same id, whichever
// version of the objects it was made on.
//
//   "cluster": "uid of the namespace kube-system",
//   "objects": [{"kind":"Pod","namespace":"shop","name":"web","uid":"...","resourceVersion":"7"}]
//
// Only what is known is written. Objects of other planes than home are none of its business.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "codec/writer.hpp"
#include "model/plan.hpp"

namespace makeway {

struct ObjectVersion {
  std::string kind;
  std::string namespace_name;
  std::string name;
  std::string uid;
  std::string version;  ///< resourceVersion: opaque.

  friend bool operator==(const ObjectVersion&, const ObjectVersion&) = default;
};

struct PlanVersions {
  std::string cluster;                 ///< Empty: not known.
  std::vector<ObjectVersion> objects;  ///< By kind, namespace and name.

  friend bool operator==(const PlanVersions&, const PlanVersions&) = default;
};

/// Collects versions of pods and groups from texts, and what distinguishes clusters.
class VersionReader {
 public:
  /// JSON that is followed by padding (source.hpp): an object or a list, as an API server or
  /// kubectl writes it. What cannot be read is left out: the decoder of the same text reports it.
  void read(std::string_view padded_json);
  /// Of the asks, their pods and the victims of the plan.
  PlanVersions of(const Plan& plan) const;

 private:
  using Key = std::tuple<std::string, std::string, std::string>;  ///< Kind, namespace, name.

  void take(ObjectVersion object);

  std::string cluster_;
  std::map<Key, ObjectVersion> objects_;
};

/// Fields of the document that is being written.
void write_plan_versions(DocumentWriter& writer, const PlanVersions& versions);

}  // namespace makeway
