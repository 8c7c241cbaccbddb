#include "codec/descriptor.hpp"

#include <unistd.h>

namespace makeway {

Descriptor& Descriptor::operator=(Descriptor&& other) noexcept {
  if (this == &other) return *this;
  close();
  number_ = std::exchange(other.number_, -1);
  return *this;
}

void Descriptor::close() {
  if (number_ >= 0) ::close(number_);
  number_ = -1;
}

}  // namespace makeway
