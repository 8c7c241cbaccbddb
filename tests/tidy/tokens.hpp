// Rule: words that must not appear, each with what to write instead.
//
// Core layers (base, model, codec, engine, policies) see no clock, no chance, no terminal, no
// environment, no thread and no floating point. Some words are unwelcome in all of src/, and some
// in every C++ file.
#pragma once

#include "tidy/source_text.hpp"

namespace makeway::tidy {

Findings check_tokens(const SourceFile& file);

/// A note that something is left to do names the issue that will do it.
Findings check_leftovers(const SourceFile& file);

}  // namespace makeway::tidy
