// YAML to JSON text, one document after the other, so that only one reader has to know objects.
//
// Rules:
//  1. Documents are numbered from 1 and empty ones count, but are not delivered.
//  2. Scalars mean what Kubernetes' tools take them for (see yaml_scalar.hpp); scalar keys become
//     strings, other keys are refused, and so is a key that comes twice in one mapping.
//  3. Anchors and aliases work within limits; merge keys (<<) and foreign tags are refused.
//  4. A document with a problem is not delivered. A syntax error or a broken limit ends the source,
//     anything else only its document: the reader learns of as many mistakes as possible.
//
// Time and memory are linear in the text plus what aliases expand to, which is limited.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/problem.hpp"

namespace makeway {

struct YamlLimits {
  std::size_t depth_max = 64;
  std::size_t anchors_max = 1'000;           ///< In one document.
  std::size_t alias_bytes_max = 16U << 20U;  ///< JSON that all aliases of a source expand to.
  std::size_t problems_max = 100;            ///< After these the rest is not read.
};

struct YamlDocument {
  std::string json;          ///< One JSON value without trailing blanks.
  std::uint64_t line = 0;    ///< Where its first node stands, from 1.
  std::uint32_t number = 0;  ///< From 1.
};

/// May take the JSON text out of the document, or leave it: its memory is used again.
using YamlSink = std::function<void(YamlDocument&)>;

/// `source` is only a name for the problems.
Problems yaml_documents(std::string_view text, std::string_view source, const YamlLimits& limits,
                        const YamlSink& sink);

/// All documents at once, appended to `out`.
Problems yaml_to_json(std::string_view text, std::string_view source, const YamlLimits& limits,
                      std::vector<YamlDocument>& out);

}  // namespace makeway
