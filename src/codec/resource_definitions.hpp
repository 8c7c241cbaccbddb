// CustomResourceDefinitions of Makeway's own kinds, made from the rows of their fields (fields.hpp)
// and, for Configuration, from the knobs: what the API server refuses is what we refuse.
//
//   std::string text;
//   YamlWriter writer(text);
//   for (const std::string_view kind : own_kind_names()) write_definition(writer, kind);
//
// What one object shows is in the schema or a CEL rule. What only the cluster shows (a parent that
// is not there, partitions that no session can preempt) is not: `makeway check` finds it.
#pragma once

#include <string>
#include <string_view>

namespace makeway {

class DocumentWriter;

/// "queues.makeway.dev"
std::string definition_name(std::string_view kind);

/// One document; `kind` is one of `own_kind_names`.
void write_definition(DocumentWriter& writer, std::string_view kind);

}  // namespace makeway
