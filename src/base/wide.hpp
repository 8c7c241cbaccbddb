// Products and ratios of two amounts without overflow.
#pragma once

namespace makeway {

__extension__ using Wide = __int128;

}  // namespace makeway
