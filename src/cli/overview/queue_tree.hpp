// Queues as people read them: children below their parents, each set in by two blanks.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace makeway::cli {

struct QueueName {
  std::string_view name;
  std::string_view parent;  ///< Empty: none. One that is not there counts as none.
};

struct QueueLine {
  std::size_t position = 0;  ///< In the list that was given.
  std::size_t depth = 0;
};

/// Siblings by name. What hangs in a circle is left out: such queues are refused on load.
std::vector<QueueLine> queue_lines(const std::vector<QueueName>& queues);

/// "    vision" for a name at depth 2.
std::string indented(std::string_view name, std::size_t depth);

}  // namespace makeway::cli
