#include "tidy/exceptions.hpp"

#include <fmt/format.h>

namespace makeway::tidy {

const std::vector<Exception>& exceptions() {
  static const std::vector<Exception> table = {
      {"src/base/check.cpp", "'fmt::print'", "a broken invariant has no caller left to return to"},
      {"src/base/check.cpp", "'fputs'", "as above"},
      {"src/base/check.cpp", "'std::abort'", "CHECK ends the process, that is its purpose"},
      {"src/base/check.cpp", "'thread_local'",
       "a containment holds for the thread that made it; nothing is decided by it"},
      {"src/policies/shared/plan_writer.cpp", "'nobody'",
       "a printed word that plans have where a place needs no victim"},
      {"src/model/configuration.hpp", "'everyone'", "the value of trust.outsideQueues"},
      {"src/model/configuration_test.cpp", "'everyone'", "as above"},
      {"src/model/removed_knobs.cpp", "'everyone'", "as above, and of removed knobs"},
      {"src/model/trust.cpp", "'everyone'", "as above"},
      {"src/control/live_view.cpp", "'everyone'", "as above"},
      {"src/cli/journal/recorded_journals_test.cpp", "'everyone'", "as above"},
      {"docs/configuration.md", "'everyone'", "as above"},
      {"docs/seeds.md", "'nobody'", "the name of a case in tests/scenarios/replica_force.txt"},
      {"tests/support/random_world.cpp", "'nobody'",
       "a name in random worlds: another one would change what their seeds make"},
      {"src/codec/json_cursor.hpp", "<simdjson.h>",
       "the cursor is simdjson's; check_reach keeps it inside codec"},
      {"src/base/shared_list.hpp", "'shared_ptr'",
       "copies of a long list are one list until one of them is changed; that is its purpose"},
      {"src/server/http_server.hpp", "'shared_ptr'",
       "a frame for 200 viewers is one text, and a late answer must not keep its server alive"},
      {"src/server/http_server.cpp", "'shared_ptr'",
       "a frame for 200 viewers is one text, and a late answer must not keep its server alive"},
      {"src/server/tls_keys.hpp", "'shared_ptr'",
       "a connection that was begun with keys that are renewed meanwhile goes on with them"},
  };
  return table;
}

Findings apply_exceptions(const Findings& findings, const std::vector<Exception>& table) {
  Findings remaining;
  std::vector<bool> needed(table.size(), false);
  for (const Finding& finding : findings) {
    bool forgiven = false;
    for (std::size_t i = 0; i < table.size(); ++i) {
      if (finding.path != table[i].path || !finding.message.contains(table[i].message_part)) {
        continue;
      }
      needed[i] = true;
      forgiven = true;
    }
    if (!forgiven) remaining.push_back(finding);
  }
  for (std::size_t i = 0; i < table.size(); ++i) {
    if (needed[i]) continue;
    remaining.push_back({.path = std::string(table[i].path),
                         .line = 0,
                         .message = fmt::format("its exception for {} forgives nothing; remove it",
                                                table[i].message_part)});
  }
  return remaining;
}

}  // namespace makeway::tidy
