// Descriptor: a file descriptor that closes itself.
#pragma once

#include <utility>

namespace makeway {

class Descriptor {
 public:
  Descriptor() = default;
  /// As the system gave it; a negative one is none.
  explicit Descriptor(int number) : number_(number) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept;
  ~Descriptor() { close(); }

  int number() const { return number_; }
  bool is_open() const { return number_ >= 0; }
  void close();

 private:
  int number_ = -1;
};

}  // namespace makeway
