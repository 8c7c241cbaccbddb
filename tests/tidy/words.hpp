// Rule: words for people are not used for pods, asks, queues and code. Name the noun instead.
//
// Checked in the layers that were rewritten so far (`finished_layers` in words.cpp), in code,
// comments, messages and READMEs alike.
#pragma once

#include "tidy/source_text.hpp"

namespace makeway::tidy {

Findings check_words(const SourceFile& file);

}  // namespace makeway::tidy
