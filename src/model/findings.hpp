// Findings: problems of a cluster while they are collected. Private to validation*.cpp.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/problem.hpp"
#include "model/cluster.hpp"

namespace makeway {

/// The labels of a template's pods.
struct TemplateLabels {
  std::string_view namespace_name;
  const Labels& labels;
};

/// What files may say and Kubernetes cannot do is an error in a live cluster.
enum class LintFor : std::uint8_t { files, live };

class Findings {
 public:
  explicit Findings(const Cluster& cluster, std::span<const TemplateLabels> templates = {},
                    LintFor use = LintFor::files)
      : cluster_(cluster), templates_(templates), use_(use) {}

  void error(Problem problem) { add(Severity::error, std::move(problem)); }
  void warning(Problem problem) { add(Severity::warning, std::move(problem)); }

  void unknown_class(std::string object, std::string field, std::string_view name) {
    error({.object = std::move(object),
           .field = std::move(field),
           .value = shorten(name),
           .message = "no PriorityClass of this name is in the input",
           .remedy = "add it (kubectl get priorityclasses -o yaml) or correct the name"});
  }

  const Cluster& cluster() const { return cluster_; }
  std::span<const TemplateLabels> templates() const { return templates_; }
  bool is_live() const { return use_ == LintFor::live; }
  Problems take() { return std::move(problems_); }
  /// Every error goes there, too, however many there are.
  void list_errors_in(std::vector<Problem>& errors) { errors_ = &errors; }

 private:
  void add(Severity severity, Problem problem) {
    problem.severity = severity;
    if (errors_ != nullptr && severity == Severity::error) errors_->push_back(problem);
    problems_.push_back(std::move(problem));
  }

  const Cluster& cluster_;
  std::span<const TemplateLabels> templates_;
  LintFor use_;
  Problems problems_;
  std::vector<Problem>* errors_ = nullptr;
};

/// "1500m", "4": exact, as it can be written in a manifest.
inline std::string human_amount(std::string_view resource, std::int64_t amount) {
  return counted_in_thousandths(resource) ? fmt::format("{}m", amount) : fmt::format("{}", amount);
}

inline std::string annotation_field(std::string_view name) {
  return fmt::format("metadata.annotations[{}]", name);
}

}  // namespace makeway
