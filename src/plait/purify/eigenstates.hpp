#pragma once

#include <memory>
#include <span>
#include <vector>

#include "plait/base/index.hpp"
#include "plait/model/placement.hpp"
#include "plait/purify/eigensolver.hpp"
#include "plait/purify/products.hpp"

namespace plait::purify {

/// Where the eigenstates of n × n matrices are found by any number of ranks. Where a node has fewer cores than ranks,
/// as many ranks as it has cores find them, and the others sleep: ScaLAPACK exchanges messages for each column, and all
/// of them would wait for each other's cores. Of two to eight (two or three, below 100 states) one finds them alone,
/// with all cores of its node. Above 8192 states it has no room for them; then, and from nine (four) on, √ranks rows of
/// ranks, rounded down, and as many columns as there are ranks for share blocks of up to 64 × 64; the last ranks may
/// have none.
///
/// \param cores_per_node  0 if that is unknown
[[nodiscard]] layout::Layout eigenstates_layout(Index n, const model::Placement& placement, int cores_per_node);

/// The same on the ranks of a context, and on all of them. No communication.
[[nodiscard]] layout::Layout eigenstates_layout(Index n, const mpi::Context& context);

/// \throws ArgumentError  the workspace of a rank has more elements than the 2^31 - 1 that the library can count
template <class T>
void expect_countable(const layout::Layout& layout);

/// The bytes of matrices and workspaces that a rank takes at once to find them, with an overlap or without.
template <class T>
[[nodiscard]] Index eigenstates_bytes(const layout::Layout& layout, int rank, bool has_overlap);

/// All eigenvalues e and eigenvectors c of a Hermitian H, by LAPACK or ScaLAPACK:  H c = e c,  or  H c = e S c  with an
/// overlap.
///
///     Eigenstates<double> states(context, h);
///     states.weigh(occupy(states.values(), filled, smearing, width).of_states, d);
///
/// Everything is collective over the context, which outlives this. T is float, double, or std::complex of one.
template <class T>
class Eigenstates {
 public:
  static constexpr int all_cores = 1 << 15;

  /// h and s may lie in any layouts, and keep their contents. Their lower triangles are read.
  ///
  /// \param cores_of_rank  that it may use for each rank of the context, where others work beside it
  /// \throws ArgumentError  on all ranks: s is not positive definite; see `expect_countable` and `expect_squares`
  /// \throws Error          on all ranks: there is no such library, or it fails
  /// \throws OutOfMemory    on all ranks
  Eigenstates(mpi::Context& context, const Matrix<T>& h, const Matrix<T>* s = nullptr, int cores_of_rank = all_cores);

  /// All of them, increasing; on every rank.
  [[nodiscard]] const std::vector<double>& values() const noexcept { return values_; }

  /// d ← Σ weights[k] c_k c_kᴴ, Hermitian to the last bit, by one product that computes one triangle.
  /// \pre  a weight for each state, the same on all ranks
  void weigh(std::span<const double> weights, Matrix<T>& d);

 private:
  void scale_columns(std::span<const double> weights, Matrix<T>& scaled) const;

  mpi::Context& context_;
  layout::Layout layout_;
  std::unique_ptr<Eigensolver<T>> solver_;  // none of an empty matrix
  Matrix<T> vectors_;
  std::vector<double> values_;
  int threads_ = 1;  // of BLAS
};

}  // namespace plait::purify
