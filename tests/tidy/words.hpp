// Rule: words for people are not used for pods, asks, queues and code. Name the noun instead.
//
// Checked in code, comments, messages and documents of every layer, of the tests, of the pages in
// docs and of the README. The words of `further_words` are not checked yet in the layers that
// decide
// (`engine`, `judge`, `policies`), where texts of plans still have some. Not checked: the rule
// itself and what quotes it, and decisions and evidence, which are history.
#pragma once

#include "tidy/source_text.hpp"

namespace makeway::tidy {

Findings check_words(const SourceFile& file);

}  // namespace makeway::tidy
