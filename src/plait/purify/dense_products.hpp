#pragma once

#include <optional>
#include <string>

#include "plait/base/index.hpp"
#include "plait/dense/hermitian_product.hpp"
#include "plait/dense/multiplication.hpp"
#include "plait/dense/symm/square_cube.hpp"
#include "plait/purify/products.hpp"

namespace plait::purify {

/// Who computes squares and cubes.
enum class Squares : unsigned char {
  cube,   ///< `dense::symm::SquareCube`, on the largest cube of ranks that there is
  halves  ///< `dense::HermitianProduct`, on all ranks
};

/// Both compute half of each product. The former, where the cube has more than half of the ranks, as the others would
/// be missed; but one rank alone takes the latter, whose squares are then one ?syrk or ?herk.
[[nodiscard]] Squares choose_squares(int ranks) noexcept;

/// The products of `dense`, planned once: squares and cubes by `squares`, whose layout is that of all matrices, other
/// products by `dense::Multiplication`, planned when the first is asked for. T is float, double, or std::complex of
/// one.
template <class T>
class DenseProducts final : public Products<T> {
 public:
  /// Collective over the context, which outlives this.
  /// \throws Error  on all ranks: what `dense` throws
  DenseProducts(mpi::Context& context, Index n, Squares squares);

  [[nodiscard]] mpi::Context& context() const override { return context_; }
  [[nodiscard]] const layout::Layout& layout() const override { return layout_; }
  void square(const Matrix<T>& x, Matrix<T>& x2) override;
  void square_cube(const Matrix<T>& x, Matrix<T>& x2, Matrix<T>& x3) override;
  void multiply(const Matrix<T>& a, const Matrix<T>& b, Matrix<T>& c) override;

  /// How many products it made.
  [[nodiscard]] Index count() const noexcept { return count_; }
  /// Seconds that this rank spent in them.
  [[nodiscard]] double seconds() const noexcept { return seconds_; }
  /// What this rank takes beside the matrices, in bytes.
  [[nodiscard]] Index workspace_bytes() const;
  /// "squares in halves on 3 ranks", "squares and cubes on 2 x 2 x 2 ranks".
  [[nodiscard]] std::string describe() const;

 private:
  [[nodiscard]] dense::Multiplication<T>& multiplication();
  template <class F>
  void make(Index products, F&& f);

  mpi::Context& context_;
  std::optional<dense::symm::SquareCube<T>> cube_;
  std::optional<dense::HermitianProduct<T>> halves_;
  layout::Layout layout_;
  std::optional<dense::Multiplication<T>> general_;  // planned when it is first used
  Index count_ = 0;
  double seconds_ = 0;
};

}  // namespace plait::purify
