// The canonical dump of a cluster: a v1 List that loads into the same cluster again.
//
// Objects come by kind, then namespace and name; fields in a fixed order; only what scheduling
// reads; for readers also who schedules a node (`regimes`, at the end), unless it is pods.
// A pod's requests stand as one container that asks for the total. Equal clusters give equal bytes,
// and loading a dump and dumping it again changes nothing.
#pragma once

#include <cstdint>
#include <string>

#include "model/cluster.hpp"

namespace makeway {

class DocumentWriter;

void write_cluster(DocumentWriter& writer, const Cluster& cluster);

enum class DumpFormat : std::uint8_t { json, yaml };
std::string dump(const Cluster& cluster, DumpFormat format);

}  // namespace makeway
