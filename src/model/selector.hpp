// Label selection on plain values, as Kubernetes does it.
//
// in and not_in look at the value (not_in also holds when the key is missing), exists and
// does_not_exist at the key, greater_than and less_than compare integers and fail on anything else.
// An absent selector selects nothing; a present one without requirements selects everything.
#pragma once

#include <optional>
#include <string_view>

#include "model/objects.hpp"

namespace makeway {

/// The value of a label, or nothing. O(log labels).
std::optional<std::string_view> find_label(const Labels& labels, std::string_view key);

bool matches(const Requirement& requirement, std::optional<std::string_view> value);
bool matches(const LabelSelector& selector, const Labels& labels);

/// A PodDisruptionBudget with an empty selector governs nothing here, as in kube-scheduler.
bool governs(const DisruptionBudget& budget, std::string_view namespace_name, const Labels& labels);

}  // namespace makeway
