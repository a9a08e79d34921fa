#pragma once

#include <array>
#include <cstdint>

#include "plait/base/index.hpp"
#include "plait/layout/distributed_matrix.hpp"
#include "plait/mpi/context.hpp"
#include "plait/redistribute/op.hpp"

namespace plait::redistribute {

/// Checks that A became alpha·op(B) + beta·A, at the cost of reading each matrix once, wherever its elements lie.
///
/// Each element is weighted by a random number of its place in A, and the weighted sums before and after are compared.
/// For a mere copy (alpha = 1, beta = 0) sums are of hashed bits: wrong ones pass with probability 2^-64. Other
/// integers wrap, and a multiple of a high bit is even: there are eight sums, and errors in the highest bits of any
/// number of elements pass with probability 2^-8, others with less. Otherwise the weights are ±1 and the sums may
/// differ by what rounding explains, 16 standard deviations of it in T: an element that is wrong by more than that is
/// found, smaller errors may not be. (The idea is Freivalds's, "Probabilistic machines can use less running time",
/// 1977.)
template <class T>
class Check {
 public:
  Check(Op op, T alpha, T beta) : op_(op), alpha_(alpha), beta_(beta) {}

  /// Reads the source, or the target before it is written to; nothing where its scalar is 0. Local.
  void read_source(const layout::DistributedMatrix<T>& source);
  void read_target_before(const layout::DistributedMatrix<T>& target);
  void read_target_after(const layout::DistributedMatrix<T>& target);

  enum class Verdict : unsigned char { passed, failed, undecided };
  /// Collective. `undecided` if NaN or infinite elements take part in arithmetic or come of it, so that sums tell
  /// nothing.
  [[nodiscard]] Verdict verdict(mpi::Context& context) const;

 private:
  /// Wider than T in digits and range wherever the machine has it, so that sums neither lose digits nor overflow.
  using Wide = long double;
  struct Sums {
    std::array<std::uint64_t, 8> exact{};  // modulo 2^64; of a copy only the first
    std::array<Wide, 2> weighted{0, 0};    // real and imaginary part
    Wide squares = 0;
  };
  /// Those of op(matrix).
  void add(Sums& sums, Op op, const layout::DistributedMatrix<T>& matrix) const;
  [[nodiscard]] bool is_copy() const { return alpha_ == T{1} && beta_ == T{0}; }

  Op op_;
  T alpha_;
  T beta_;
  Sums source_, before_, after_;
  Index elements_ = 0;  // of A
};

}  // namespace plait::redistribute
