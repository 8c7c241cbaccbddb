// The answer of `why --journal` for machines.
#pragma once

#include <string>
#include <string_view>

#include "cli/journal/why_story.hpp"

namespace makeway::cli {

/// `summary`: the story in one sentence, as the text begins.
std::string why_json(std::string_view object, std::string_view summary, const WhyStory& story);

}  // namespace makeway::cli
