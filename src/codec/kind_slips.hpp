// Kinds that were skipped although they look like one that is read: a misspelling, or an API of
// another project. Without a report it would go unnoticed that such an object asks for nothing.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "base/problem.hpp"

namespace makeway {

/// `skipped`: how often, by "apiVersion kind".
void warn_of_kind_slips(const std::map<std::string, std::uint64_t>& skipped, Problems& warnings);

}  // namespace makeway
