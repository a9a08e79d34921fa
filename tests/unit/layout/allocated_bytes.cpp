#include "allocated_bytes.hpp"

#include <cstdlib>
#include <new>

// Beside the tests and not among them: there the compiler would see through `new` but not through `delete`, and warn of
// a mismatch.

namespace {

std::size_t bytes_so_far = 0;

}  // namespace

void* operator new(std::size_t bytes) {
  bytes_so_far += bytes;
  if (void* memory = std::malloc(bytes)) return memory;
  throw std::bad_alloc();
}
void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept {
  bytes_so_far += bytes;
  return std::malloc(bytes);
}

void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

namespace plait::test {

std::size_t allocated_bytes() noexcept { return bytes_so_far; }

}  // namespace plait::test
