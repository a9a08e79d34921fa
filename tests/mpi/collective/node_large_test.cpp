// More elements than a 32-bit count holds.
#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdlib>
#include <cstring>

#include <gtest/gtest.h>

#include "plait/base/random.hpp"
#include "plait/collective/node/reducer.hpp"
#include "plait/mpi/context.hpp"

#include "support/ranks.hpp"

namespace plait::test {
namespace {

// So many bytes of address space in which the same few lie again and again, no power of two of them. What is put down
// at the wrong one of the many shows, since what is reduced repeats as they do.
class Repeated {
 public:
  static constexpr std::size_t period = std::size_t{4096} * 251;

  explicit Repeated(std::size_t bytes)
      : mapped_((bytes + period - 1) / period * period),
        address_(static_cast<std::byte*>(
            mmap(nullptr, mapped_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0))) {
    const int file = memfd_create("plait-test", 0);
    if (address_ == MAP_FAILED || ftruncate(file, period) != 0) std::abort();
    for (std::size_t at = 0; at < mapped_; at += period) {
      mmap(address_ + at, period, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, file, 0);
    }
    close(file);
  }
  Repeated(const Repeated&) = delete;
  Repeated& operator=(const Repeated&) = delete;
  ~Repeated() { munmap(address_, mapped_); }

  [[nodiscard]] std::byte* data() const { return address_; }

 private:
  std::size_t mapped_;
  std::byte* address_;
};

std::byte byte_at(std::size_t i) { return static_cast<std::byte>(random_bits(3, i / 8) >> (i % 8 * 8)); }

TEST(NodeReducerOfManyElements, reduces_all_of_them) {
  const Index n = (Index{1} << 31) + 4099;
  const Repeated in(static_cast<std::size_t>(n));
  const Repeated out(static_cast<std::size_t>(n));
  for (std::size_t i = 0; i < Repeated::period; ++i) in.data()[i] = rank() == 0 ? byte_at(i) : std::byte{0x77};

  // The first operand, at the speed of memory in every build.
  const auto first = [](const void*, Index count, const void* a, const void*, void* result) {
    if (a != result) std::memcpy(result, a, static_cast<std::size_t>(count));
  };
  mpi::Context context(test_comm());
  collective::NodeReducer reducer(context);
  reducer.allreduce(in.data(), out.data(), n, schedule::Combine(first, nullptr, 1, false));
  for (std::size_t i = 0; i < Repeated::period; ++i) ASSERT_EQ(out.data()[i], byte_at(i)) << "at " << i;
}

}  // namespace
}  // namespace plait::test
