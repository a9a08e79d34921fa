#include "plait/sinkhorn/costs/stored_costs.hpp"

#include <cmath>

#include "plait/simd/sweep/exponential_kernels.hpp"

namespace plait::sinkhorn {

template <class T, class A>
void StoredCosts<T, A>::set_epsilon(double epsilon, Index together) {
  epsilon_ = epsilon;
  sweep_.emplace(costs_, epsilon, together);
}

template <class T, class A>
void StoredCosts<T, A>::for_each_row(std::span<const A> f, std::span<const A> g,
                                     const std::function<void(const PlanRow<A>&)>& visit) {
  sweep_->for_each_row(f, g, [&](Index i, std::span<const A> plan) {
    const T* row = costs_.data() + i * costs_.leading_dimension();
    double cost = 0;
    for (std::size_t j = 0; j < plan.size(); ++j) {
      if (plan[j] != 0) cost += static_cast<double>(row[j]) * static_cast<double>(plan[j]);
    }
    visit({i, plan, cost});
  });
}

template <class T, class A>
void StoredCosts<T, A>::fill(matrix_view<A> kernel, std::span<A> f, std::span<const A> g) {
  const auto kernels = simd::exponential_kernels<T, A>();
  const auto factor = static_cast<A>(-1 / epsilon_);
  for (Index i = 0; i < costs_.rows(); ++i) {
    const simd::RowBlock<const T> row{costs_.data() + i * costs_.leading_dimension(), 1, costs_.columns(),
                                      costs_.leading_dimension()};
    A& potential = f[static_cast<std::size_t>(i)];
    A maximum{};
    kernels.row_maxima(row, factor, g.data(), &maximum);
    potential = std::isfinite(maximum) ? -maximum : A{0};
    A sum{};
    kernels.exponential_sums(
        row, factor, &potential, g.data(),
        {kernel.data() + i * kernel.leading_dimension(), 1, kernel.columns(), kernel.leading_dimension()}, &sum);
  }
}

template class StoredCosts<double, double>;
template class StoredCosts<float, float>;
template class StoredCosts<float, double>;

}  // namespace plait::sinkhorn
