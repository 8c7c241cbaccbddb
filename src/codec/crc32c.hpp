// CRC32C (Castagnoli): detects bytes that were torn or flipped since they were written.
//
// The polynomial of iSCSI, ext4 and many logs. It finds every burst of up to 32 wrong bits, so
// every flipped byte. One table of 256 words: a few hundred megabytes a second.
#pragma once

#include <cstdint>
#include <string_view>

namespace makeway {

/// Of `bytes`, or of what `before` is the sum of and then `bytes`.
std::uint32_t crc32c(std::string_view bytes, std::uint32_t before = 0);

}  // namespace makeway
