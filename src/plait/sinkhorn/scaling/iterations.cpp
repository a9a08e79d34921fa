#include "plait/sinkhorn/scaling/factor_iteration.hpp"
#include "plait/sinkhorn/scaling/iteration.hpp"

namespace plait::sinkhorn {

namespace {

/// The next sweep over the rows multiplies the columns.
template <class T, class A>
class FusedInPlace final : public InPlaceIteration<A> {
 public:
  explicit FusedInPlace(const IterationTask<T>& task)
      : InPlaceIteration<A>(task.row_marginals, task.column_marginals),
        rows_(task.rows),
        by_column_(task.column_marginals.size(), A{1}) {}

  void add_rows(std::span<A> sums) override {
    Factors<A>& of = this->factors();
    for (std::size_t j = 0; j < by_column_.size(); ++j) of.v[j] *= by_column_[j];
    fused_sweep_in_place(kernels_, rows_, by_column_.data(), sums.data(), [&of](Index i, A sum) {
      const A factor = of.of_row(i, sum);
      of.u[static_cast<std::size_t>(i)] *= factor;
      return factor;
    });
  }

  void rescale(std::span<const A> sums) override {
    for (std::size_t j = 0; j < sums.size(); ++j) by_column_[j] = this->factors().of_column(j, sums[j]);
  }

 private:
  matrix_view<T> rows_;
  simd::ScalingKernels<T, A> kernels_ = simd::scaling_kernels<T, A>();
  std::vector<A> by_column_;
};

}  // namespace

template <class T, class A>
std::unique_ptr<InPlaceIteration<A>> in_place_iteration(const IterationTask<T>& task) {
  return std::make_unique<FusedInPlace<T, A>>(task);
}

template <class T, class A>
std::unique_ptr<Iteration<A>> scaling_iteration(const IterationTask<const T>& task) {
  std::vector<Factors<A>> factors;
  factors.emplace_back(task.row_marginals, task.column_marginals);
  return std::make_unique<FactorIteration<A, DenseRows<T, A>>>(DenseRows<T, A>(task.rows, 1, task.threads),
                                                               std::move(factors), Update());
}

// NOLINTBEGIN(bugprone-macro-parentheses): a type can not stand in them
#define PLAIT_INSTANTIATE(T, A)                                                              \
  template std::unique_ptr<InPlaceIteration<A>> in_place_iteration(const IterationTask<T>&); \
  template std::unique_ptr<Iteration<A>> scaling_iteration(const IterationTask<const T>&)
PLAIT_INSTANTIATE(double, double);
PLAIT_INSTANTIATE(float, float);
PLAIT_INSTANTIATE(float, double);
PLAIT_INSTANTIATE(simd::BFloat16, float);
#undef PLAIT_INSTANTIATE
// NOLINTEND(bugprone-macro-parentheses)

}  // namespace plait::sinkhorn
