// The canonical dump of a cluster: a v1 List that loads into the same cluster again.
//
// Objects come by kind, then namespace and name; fields in a fixed order; only what scheduling
// reads; for readers also the regime of a node (`regimes`, at the end), unless it is pods. A pod's
// requests stand as one container that asks for the total. Equal clusters give equal bytes, and
// loading a dump and dumping it again changes nothing. DaemonSets are no objects of a cluster, but
// trust asks which there are (SPEC section 10): a caller that knows them passes their names; they
// are written without a template, since their pods are in the dump.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "model/cluster.hpp"

namespace makeway {

class DocumentWriter;

struct DaemonSetName {
  std::string namespace_name;
  std::string name;

  friend auto operator<=>(const DaemonSetName&, const DaemonSetName&) = default;
};

void write_cluster(DocumentWriter& writer, const Cluster& cluster,
                   std::span<const DaemonSetName> daemon_sets = {});

enum class DumpFormat : std::uint8_t { json, yaml };
std::string dump(const Cluster& cluster, DumpFormat format,
                 std::span<const DaemonSetName> daemon_sets = {});

}  // namespace makeway
