#include <cmath>

#include "plait/simd/sweep/scaling_kernels.hpp"
#include "plait/sinkhorn/scaling/iteration.hpp"
#include "plait/sinkhorn/scaling/relaxed_factors.hpp"
#include "plait/sinkhorn/sweep/filled_parts.hpp"
#include "plait/sinkhorn/sweep/sweep.hpp"
#include "plait/sinkhorn/sweep/update.hpp"

namespace plait::sinkhorn {

namespace {

/// The scaling vectors change by powers of what they would change by, see `Update`.
template <class T, class A>
class RelaxedIteration final : public Iteration<A> {
 public:
  RelaxedIteration(const IterationTask<const T>& task, const Update& update)
      : Iteration<A>(task.row_marginals, task.column_marginals),
        rows_(task.rows),
        filled_(task.rows),
        of_rows_(update.row_exponent, update.over_relaxation),
        of_columns_(update.column_exponent, update.over_relaxation) {}

  void rows(std::span<A> sums) override {
    row_distance_ = 0;
    wanted_of_rows_ = 0;
    A* const u = this->u().data();
    const auto factor = [this, u](Index i, A sum) { return moved_row(i, u[i], sum); };
    if (filled_.are_few()) {
      fused_sweep(kernels_, rows_, filled_, this->v().data(), u, sums.data(), factor);
    } else {
      fused_sweep(kernels_, rows_, this->v().data(), u, sums.data(), factor);
    }
  }

  [[nodiscard]] double row_distance() const override { return row_distance_; }

  [[nodiscard]] double distance(std::span<const A> sums) const override {
    double distance = 0;
    for (std::size_t j = 0; j < sums.size(); ++j) {
      const auto v = static_cast<double>(this->v()[j]);
      distance += std::abs(v * static_cast<double>(sums[j]) - wanted(j));
    }
    return distance;
  }

  [[nodiscard]] double whole() const override {
    double whole = 0;
    for (std::size_t j = 0; j < this->v().size(); ++j) whole += wanted(j);
    return whole;
  }

  void columns(std::span<const A> sums) override {
    for (std::size_t j = 0; j < sums.size(); ++j) {
      const A sum = this->v()[j] * sums[j];
      const A ratio = this->column_factor(j, sum);
      if (this->column_marginals()[j] == 0) {
        this->v()[j] = 0;
      } else {
        this->v()[j] = relaxed_factor(of_columns_, this->v()[j], ratio);
      }
    }
  }

  [[nodiscard]] double wanted_of_rows() const override { return wanted_of_rows_; }

  [[nodiscard]] bool translate(double wanted_of_rows) override {
    return sinkhorn::translate<A>(of_rows_, of_columns_, wanted_of_rows, whole(), this->u(), this->v());
  }

 private:
  [[nodiscard]] A moved_row(Index i, A factor, A sum) {
    const A ratio = this->row_factor(i, factor * sum);
    const double marginal = this->row_marginals()[static_cast<std::size_t>(i)];
    if (marginal == 0) return A{0};
    const A next = relaxed_factor(of_rows_, factor, ratio);
    const double wanted = of_rows_.wanted(marginal, std::log(static_cast<double>(next)));
    row_distance_ += std::abs(static_cast<double>(next) * static_cast<double>(sum) - wanted);
    wanted_of_rows_ += wanted;
    return next;
  }

  [[nodiscard]] double wanted(std::size_t j) const {
    return wanted_sum(of_columns_, this->column_marginals()[j], this->v()[j]);
  }

  matrix_view<const T> rows_;
  FilledParts filled_;
  LogUpdate of_rows_;
  LogUpdate of_columns_;
  simd::ScalingKernels<T, A> kernels_ = simd::scaling_kernels<T, A>();
  double row_distance_ = 0;
  double wanted_of_rows_ = 0;
};

}  // namespace

template <class T, class A>
std::unique_ptr<Iteration<A>> relaxed_iteration(const IterationTask<const T>& task, const Update& update) {
  return std::make_unique<RelaxedIteration<T, A>>(task, update);
}

// NOLINTBEGIN(bugprone-macro-parentheses): a type can not stand in them
#define PLAIT_INSTANTIATE(T, A) \
  template std::unique_ptr<Iteration<A>> relaxed_iteration(const IterationTask<const T>&, const Update&)
PLAIT_INSTANTIATE(double, double);
PLAIT_INSTANTIATE(float, float);
PLAIT_INSTANTIATE(float, double);
PLAIT_INSTANTIATE(simd::BFloat16, float);
#undef PLAIT_INSTANTIATE
// NOLINTEND(bugprone-macro-parentheses)

}  // namespace plait::sinkhorn
