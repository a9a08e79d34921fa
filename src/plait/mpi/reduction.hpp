#pragma once

#include <mpi.h>

#include <cstddef>
#include <span>

#include "plait/base/index.hpp"
#include "plait/mpi/datatype.hpp"

namespace plait::mpi {

/// How two values become one: one of MPI's operations, or a user's own MPI_Op, which must outlive its use.
class Operation {
 public:
  Operation(MPI_Op handle) noexcept : handle_(handle) {}  // NOLINT(google-explicit-constructor): an MPI_Op is one
  static Operation sum() noexcept { return MPI_SUM; }
  static Operation minimum() noexcept { return MPI_MIN; }
  static Operation maximum() noexcept { return MPI_MAX; }
  [[nodiscard]] MPI_Op handle() const noexcept { return handle_; }

 private:
  MPI_Op handle_;
};

/// An associative operation on elements of one MPI type. It owns neither.
struct Reduction {
  MPI_Op operation;
  MPI_Datatype type;
  Index element_bytes;
};

/// The reduction of T by an operation, such as `reduction<double>(Operation::sum())`.
template <class T>
  requires is_arithmetic<T>
[[nodiscard]] Reduction reduction(Operation operation) noexcept {
  return {operation.handle(), element_type<T>().type, Index{sizeof(T)}};
}

/// Whether the order of the operands does not matter.
/// \throws MpiError  the handle is no operation
[[nodiscard]] bool commutes(Operation operation);

/// True for the maximum and the minimum of unsigned integers, which MPI's own collectives are not asked for:
/// MPICH 4.0.2 compares all of them as if they were signed, Open MPI 4.1.4 those of type MPI_UNSIGNED_LONG.
[[nodiscard]] bool compares_unsigned(const Reduction& reduction) noexcept;

/// Moves unsigned integers to where signed ones of the same width compare as they do, and back when called once more.
///
/// \pre  element_bytes is 1, 2, 4 or 8
void flip_highest_bits(std::span<std::byte> elements, Index element_bytes) noexcept;

/// The signed integers of `element_bytes` bytes.
[[nodiscard]] MPI_Datatype signed_type(Index element_bytes) noexcept;

/// inout[i] ← in[i] op inout[i] for `bytes / element_bytes` elements, any number of them. Local. By the vector kernels
/// where there are such for the operation and the type, by MPI otherwise.
///
/// \pre  bytes is a multiple of reduction.element_bytes; the operands do not overlap
/// \throws ArgumentError  as `simd::selected_isa` does
void reduce_local(const std::byte* in, std::byte* inout, Index bytes, const Reduction& reduction);

}  // namespace plait::mpi
