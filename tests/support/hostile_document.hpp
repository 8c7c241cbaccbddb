// Hostile documents: what tenants could write, as text, generated from a seed.
//
//   const HostileDocument document = hostile_document(seed);
//   write("document." + document.extension, document.text);
//
// Each begins as a random world in which pods, groups, queues, sessions and replicas meet, and
// workloads of any kind. Then its values, keys and references are edited; many stay readable, so
// that what comes behind the parsers is tried too. Some are YAML with anchors, some are broken
// bytes.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace makeway {

struct HostileDocument {
  std::string text;
  std::string extension;           ///< Of its file: "json" or "yaml".
  std::vector<std::string> edits;  ///< What was done to it, for people.
};

HostileDocument hostile_document(std::uint64_t seed);

}  // namespace makeway
