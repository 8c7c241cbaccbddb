// A tiny cluster with sessions in the short notation, and its table, for tests of single functions.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "base/check.hpp"
#include "policies/session/session_table.hpp"
#include "support/short_cluster.hpp"

namespace makeway {

struct SessionScene : ShortWorld {
  using ShortWorld::ShortWorld;

  SessionIndex index(std::string_view name) const {
    const SessionIndex found = table.find("default", name);
    CHECK(found.exists(), name);
    return found;
  }
  const SessionEntry& session(std::string_view name) const { return table.sessions()[index(name)]; }
  SessionPlace place(std::string_view node_name) const { return table.place_of(node(node_name)); }
  std::string names_of(std::span<const SessionIndex> sessions) const {
    std::string text;
    for (const SessionIndex each : sessions) {
      text += (text.empty() ? "" : " ") + table.sessions()[each].object->name;
    }
    return text;
  }
  /// "n1 n2", "-" for no place.
  std::string nodes_of(std::span<const SessionPlace> places) const {
    std::string text;
    for (const SessionPlace each : places) {
      text += text.empty() ? "" : " ";
      text += each.exists() ? table.node_name(each) : "-";
    }
    return text;
  }

  SessionTable table{cluster, configuration.session, noon};
};

}  // namespace makeway
