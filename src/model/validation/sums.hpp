// Amounts that cannot be added up. Private to validation.cpp and quarantine.cpp.
//
// Everything that sums amounts (nodes, queues, resource groups, victims) does so in 64 bits. Of one
// resource, all objects of an input together have at most `amount_sum_max`; then no sum of parts of
// it, and no difference of two, leaves 64 bits. No cluster has an exbibyte of memory; an object
// alone may say so, as to Kubernetes.
#pragma once

#include <cstdint>
#include <string_view>

#include "model/findings.hpp"

namespace makeway {

inline constexpr std::int64_t amount_sum_max = std::int64_t{1} << 61;
/// What counts instead of an amount in quarantine: two million of them can be added up.
inline constexpr std::int64_t amount_in_quarantine = std::int64_t{1} << 39;
/// How the messages of such problems begin.
inline constexpr std::string_view sum_message = "all objects together have more than";

/// The largest amounts, as many as must go. O(pods + nodes) without any, and nothing is stored.
void check_sums(Findings& findings);

}  // namespace makeway
