#include "base/plain_vector.hpp"

#include <sys/mman.h>

#include <new>

namespace makeway::plain_memory {
namespace {

bool is_mapped(std::size_t bytes) { return bytes >= mapped_from; }

/// mmap and mremap take whole pages and round up by themselves.
void* checked(void* memory) {
  if (memory == MAP_FAILED) throw std::bad_alloc();
  return memory;
}

}  // namespace

void* allocate(std::size_t bytes) {
  if (bytes == 0) return nullptr;
  if (!is_mapped(bytes)) return ::operator new(bytes);
  return checked(mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
}

void* reallocate(void* memory, std::size_t bytes, std::size_t new_bytes) {
  if (is_mapped(bytes) && is_mapped(new_bytes)) {
    return checked(mremap(memory, bytes, new_bytes, MREMAP_MAYMOVE));
  }
  void* const moved = allocate(new_bytes);
  if (const std::size_t kept = std::min(bytes, new_bytes); kept > 0) {
    std::memcpy(moved, memory, kept);
  }
  release(memory, bytes);
  return moved;
}

void release(void* memory, std::size_t bytes) noexcept {
  if (memory == nullptr) return;
  if (is_mapped(bytes)) {
    munmap(memory, bytes);
  } else {
    ::operator delete(memory);
  }
}

}  // namespace makeway::plain_memory
