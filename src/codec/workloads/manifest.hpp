// Manifests of workload kinds: what all of them have in common, and reading their fields.
//
// A manifest is kept as text until it is expanded: most in a dump never are, since their parents
// are in the input too.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/problem.hpp"
#include "codec/json_value.hpp"
#include "model/objects.hpp"

namespace makeway {

struct WorkloadKind;

/// Collects the problems of one object, each once.
class ManifestProblems {
 public:
  ManifestProblems(std::string object, Origin origin)
      : object_(std::move(object)), origin_(std::move(origin)) {}

  void add(Problem problem);
  const Problems& problems() const { return problems_; }
  const std::string& object() const { return object_; }
  const Origin& origin() const { return origin_; }
  bool has_errors() const { return makeway::has_errors(problems_); }

 private:
  std::string object_;
  Origin origin_;
  Problems problems_;
};

/// A value of a manifest and where it stands. Reads answer the fallback where there is nothing,
/// and report what is of the wrong type.
class ManifestField {
 public:
  ManifestField(const JsonValue* value, std::string path, ManifestProblems& problems)
      : value_(value), path_(std::move(path)), problems_(&problems) {}

  ManifestField at(std::string_view key) const;
  std::vector<ManifestField> items() const;
  /// The texts of a mapping, by their keys.
  std::vector<std::pair<std::string_view, std::string>> texts() const;
  bool is_present() const { return value_ != nullptr && !value_->is_null(); }

  /// 0 to `most`.
  std::int64_t count(std::int64_t fallback, std::int64_t most) const;
  std::string text(std::string_view fallback = {}) const;
  bool truth(bool fallback = false) const;
  /// Null where there is nothing.
  const JsonValue& value() const;

  const std::string& path() const { return path_; }
  ManifestProblems& problems() const { return *problems_; }
  void refuse(std::string message, std::string remedy = {}) const;
  void warn(std::string message, std::string remedy = {}) const;

 private:
  void say(Severity severity, std::string message, std::string remedy) const;
  void wrong_type(std::string_view expected) const;

  const JsonValue* value_;
  std::string path_;
  ManifestProblems* problems_;
};

/// The most that a count of Kubernetes can be.
inline constexpr std::int64_t count_max = 2'147'483'647;

struct Manifest {
  const WorkloadKind* kind = nullptr;
  std::string namespace_name;
  std::string name;
  std::string uid;            ///< Empty: it was written by hand and is not there yet.
  std::string plane;          ///< Empty: home.
  OwnerReference controller;  ///< Without a kind: it has no controller.
  bool being_deleted = false;
  std::string template_hash;  ///< Of a ReplicaSet that a Deployment has made.
  std::int64_t revision = 0;  ///< The same.
  std::string text;           ///< JSON.
  std::string live_text;  ///< The same object as the API server has it, where `text` changes it.
  Origin origin;

  /// "Job shop/nightly"
  std::string object() const;
};

inline constexpr std::string_view pod_template_hash = "pod-template-hash";

/// What the text says about itself; the rest of it may still be wrong. The text is followed by at
/// least 64 readable bytes. Problems are errors.
Manifest read_manifest(const WorkloadKind& kind, std::string_view text, const Origin& origin,
                       std::string_view plane, Problems& problems);

}  // namespace makeway
