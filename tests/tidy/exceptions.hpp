// Exceptions to the rules: each names the file, the rule's words it silences, and why.
#pragma once

#include "tidy/source_text.hpp"

namespace makeway::tidy {

struct Exception {
  std::string_view path;
  std::string_view message_part;  ///< A finding whose message contains this is forgiven.
  std::string_view reason;
};

const std::vector<Exception>& exceptions();

/// What remains of the findings; exceptions that forgave nothing become findings themselves.
Findings apply_exceptions(const Findings& findings, const std::vector<Exception>& table);

}  // namespace makeway::tidy
