#include "plait/mpi/reduction.hpp"

#include <algorithm>
#include <bit>
#include <iterator>

#include "plait/base/contract.hpp"
#include "plait/mpi/error.hpp"
#include "plait/mpi/predefined.hpp"

namespace plait::mpi {

bool commutes(Operation operation) {
  int does = 0;
  check(MPI_Op_commutative(operation.handle(), &does), "MPI_Op_commutative");
  return does != 0;
}

bool compares_unsigned(const Reduction& reduction) noexcept {
  if (reduction.operation != MPI_MAX && reduction.operation != MPI_MIN) return false;
  const MPI_Datatype types[] = {MPI_UINT8_T,  MPI_UINT16_T,      MPI_UINT32_T,
                                MPI_UINT64_T, MPI_UNSIGNED_CHAR, MPI_UNSIGNED_SHORT,
                                MPI_UNSIGNED, MPI_UNSIGNED_LONG, MPI_UNSIGNED_LONG_LONG};
  return std::find(std::begin(types), std::end(types), reduction.type) != std::end(types);
}

void flip_highest_bits(std::span<std::byte> elements, Index element_bytes) noexcept {
  const auto width = static_cast<std::size_t>(element_bytes);
  const std::size_t highest = std::endian::native == std::endian::little ? width - 1 : 0;
  for (std::size_t i = highest; i < elements.size(); i += width) elements[i] ^= std::byte{0x80};
}

MPI_Datatype signed_type(Index element_bytes) noexcept {
  switch (element_bytes) {
    case 1: return MPI_INT8_T;
    case 2: return MPI_INT16_T;
    case 4: return MPI_INT32_T;
    default: return MPI_INT64_T;
  }
}

void reduce_local(const std::byte* in, std::byte* inout, Index bytes, const Reduction& reduction) {
  constexpr Index most = Index{1} << 30;  // elements that fit one call's int
  PLAIT_ASSERT(bytes % reduction.element_bytes == 0, "a reduction combines whole elements");
  if (simd::ReduceKernel* const kernel = reduce_kernel(reduction.operation, reduction.type)) {
    kernel(bytes / reduction.element_bytes, in, inout);
    return;
  }
  Index left = bytes / reduction.element_bytes;
  while (left > 0) {
    const Index count = std::min(left, most);
    check(MPI_Reduce_local(in, inout, static_cast<int>(count), reduction.type, reduction.operation),
          "MPI_Reduce_local");
    in += count * reduction.element_bytes;
    inout += count * reduction.element_bytes;
    left -= count;
  }
}

}  // namespace plait::mpi
