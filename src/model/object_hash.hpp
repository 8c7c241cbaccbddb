// Hashes of the object parts that the store interns. Equal values have equal hashes.
#pragma once

#include <cstdint>
#include <vector>

#include "model/objects.hpp"

namespace makeway {

std::uint64_t hash_of(const PodShape& shape);
std::uint64_t hash_of(const PodNotes& notes);
std::uint64_t hash_of(const std::vector<Taint>& taints);
std::uint64_t hash_of(const std::vector<OwnerReference>& owners);

}  // namespace makeway
