// Names, hashes and uids that a controller would draw, made up: the same input gives the same ones.
//
// Random suffixes and hashes of templates cannot be foreseen (facts: they are FNV over a dump of
// Go). Ours use the same letters, so that they look like real ones and sort in their order.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace makeway {

/// The base, cut to 58 bytes as the API server does, and five letters for the number.
std::string with_suffix(std::string_view base, std::uint32_t number);

/// Ten letters, as in pod-template-hash.
std::string template_hash(std::string_view template_text);

/// SHA-1 in hexadecimal digits. JobSet and LeaderWorkerSet make keys of it; nothing here relies on
/// its strength.
std::string sha1_text(std::string_view text);

/// A placeholder for the uid of an object that is not there yet.
std::string made_uid(std::string_view object);

}  // namespace makeway
