#include <algorithm>

#include "plait/simd/sweep/scaling_kernels.hpp"
#include "plait/sinkhorn/scaling/iteration.hpp"
#include "plait/sinkhorn/sweep/filled_parts.hpp"
#include "plait/sinkhorn/sweep/sweep.hpp"

namespace plait::sinkhorn {

namespace {

template <class T, class A>
class ScalingIteration final : public FactorIteration<A> {
 public:
  explicit ScalingIteration(const IterationTask<const T>& task)
      : FactorIteration<A>(task.row_marginals, task.column_marginals), rows_(task.rows), filled_(task.rows) {}

  void rows(std::span<A> sums) override {
    const auto factor = [this](Index i, A sum) { return this->row_factor(i, sum); };
    A* const u = this->u().data();
    if (filled_.are_few()) {
      fused_sweep(kernels_, rows_, filled_, this->v().data(), u, sums.data(), factor);
    } else {
      fused_sweep(kernels_, rows_, this->v().data(), u, sums.data(), factor);
    }
  }

 private:
  matrix_view<const T> rows_;
  FilledParts filled_;
  simd::ScalingKernels<T, A> kernels_ = simd::scaling_kernels<T, A>();
};

template <class T, class A>
class InPlaceIteration final : public Iteration<A> {
 public:
  explicit InPlaceIteration(const IterationTask<T>& task)
      : Iteration<A>(task.row_marginals, task.column_marginals),
        rows_(task.rows),
        by_column_(task.column_marginals.size(), A{1}) {}

  void rows(std::span<A> sums) override {
    for (std::size_t j = 0; j < by_column_.size(); ++j) this->v()[j] *= by_column_[j];
    fused_sweep_in_place(kernels_, rows_, by_column_.data(), sums.data(), [this](Index i, A sum) {
      const A factor = this->row_factor(i, sum);
      this->u()[static_cast<std::size_t>(i)] *= factor;
      return factor;
    });
  }

  [[nodiscard]] double distance(std::span<const A> sums) const override {
    double distance = 0;
    for (std::size_t j = 0; j < sums.size(); ++j) {
      distance += std::abs(static_cast<double>(sums[j]) - this->column_marginals()[j]);
    }
    return distance;
  }

  /// The next sweep over the rows multiplies.
  void columns(std::span<const A> sums) override {
    for (std::size_t j = 0; j < sums.size(); ++j) by_column_[j] = this->column_factor(j, sums[j]);
  }

 private:
  matrix_view<T> rows_;
  simd::ScalingKernels<T, A> kernels_ = simd::scaling_kernels<T, A>();
  std::vector<A> by_column_;
};

}  // namespace

template <class T, class A>
std::unique_ptr<Iteration<A>> scaling_iteration(const IterationTask<const T>& task) {
  return std::make_unique<ScalingIteration<T, A>>(task);
}

template <class T, class A>
std::unique_ptr<Iteration<A>> in_place_iteration(const IterationTask<T>& task) {
  return std::make_unique<InPlaceIteration<T, A>>(task);
}

// NOLINTBEGIN(bugprone-macro-parentheses): a type can not stand in them
#define PLAIT_INSTANTIATE(T, A)                                                            \
  template std::unique_ptr<Iteration<A>> scaling_iteration(const IterationTask<const T>&); \
  template std::unique_ptr<Iteration<A>> in_place_iteration(const IterationTask<T>&)
PLAIT_INSTANTIATE(double, double);
PLAIT_INSTANTIATE(float, float);
PLAIT_INSTANTIATE(float, double);
PLAIT_INSTANTIATE(simd::BFloat16, float);
#undef PLAIT_INSTANTIATE
// NOLINTEND(bugprone-macro-parentheses)

}  // namespace plait::sinkhorn
