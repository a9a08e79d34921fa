#include <algorithm>

#include "plait/simd/scaling_kernels.hpp"
#include "plait/sinkhorn/iteration.hpp"

namespace plait::sinkhorn {

namespace {

/// What the three have in common: the matrix becomes the plan, and the columns are multiplied in a pass of their own.
template <class A>
class Baseline : public Iteration<A> {
 public:
  explicit Baseline(const IterationTask<A>& task)
      : Iteration<A>(task.row_marginals, task.column_marginals),
        matrix_(task.rows),
        by_column_(task.column_marginals.size(), A{1}) {}

  void rows(std::span<A> sums) final {
    for (Index i = 0; i < matrix_.rows(); ++i) rescale_row(i);
    add_columns(sums.data());
  }

  [[nodiscard]] double distance(std::span<const A> sums) const final {
    double distance = 0;
    for (std::size_t j = 0; j < sums.size(); ++j) {
      distance += std::abs(static_cast<double>(sums[j]) - this->column_marginals()[j]);
    }
    return distance;
  }

  void columns(std::span<const A> sums) final {
    for (std::size_t j = 0; j < sums.size(); ++j) {
      by_column_[j] = this->column_factor(j, sums[j]);
      this->v()[j] *= by_column_[j];
    }
    multiply_columns(by_column_.data());
  }

 protected:
  [[nodiscard]] const matrix_view<A>& matrix() const noexcept { return matrix_; }
  [[nodiscard]] A* row(Index i) const noexcept { return matrix_.data() + i * matrix_.leading_dimension(); }

  [[nodiscard]] virtual A sum_of_row(Index i) const {
    const A* elements = row(i);
    A sum{0};
    for (Index j = 0; j < matrix_.columns(); ++j) sum += elements[j];
    return sum;
  }
  virtual void add_columns(A* sums) const = 0;
  virtual void multiply_columns(const A* factors) const = 0;

 private:
  void rescale_row(Index i) {
    const A factor = this->row_factor(i, sum_of_row(i));
    this->u()[static_cast<std::size_t>(i)] *= factor;
    A* elements = row(i);
    for (Index j = 0; j < matrix_.columns(); ++j) elements[j] *= factor;
  }

  matrix_view<A> matrix_;
  std::vector<A> by_column_;
};

template <class A>
class Typical final : public Baseline<A> {
  using Baseline<A>::Baseline;

  void add_columns(A* sums) const override {
    for (Index j = 0; j < this->matrix().columns(); ++j) {
      A sum{0};
      for (Index i = 0; i < this->matrix().rows(); ++i) sum += this->row(i)[j];
      sums[j] += sum;
    }
  }

  void multiply_columns(const A* factors) const override {
    for (Index j = 0; j < this->matrix().columns(); ++j) {
      for (Index i = 0; i < this->matrix().rows(); ++i) this->row(i)[j] *= factors[j];
    }
  }
};

template <class A>
class ByRows final : public Baseline<A> {
  using Baseline<A>::Baseline;

  void add_columns(A* sums) const override {
    for (Index i = 0; i < this->matrix().rows(); ++i) {
      const A* elements = this->row(i);
      for (Index j = 0; j < this->matrix().columns(); ++j) sums[j] += elements[j];
    }
  }

  void multiply_columns(const A* factors) const override {
    for (Index i = 0; i < this->matrix().rows(); ++i) {
      A* elements = this->row(i);
      for (Index j = 0; j < this->matrix().columns(); ++j) elements[j] *= factors[j];
    }
  }
};

template <class A>
class Blocked final : public Baseline<A> {
 public:
  Blocked(const IterationTask<A>& task, Blocking blocking)
      : Baseline<A>(task),
        blocking_(blocking),
        ones_(static_cast<std::size_t>(std::max(blocking.rows, this->matrix().columns())), A{1}) {}

 private:
  [[nodiscard]] A sum_of_row(Index i) const override {
    A sum{0};
    const Index columns = this->matrix().columns();
    kernels_.row_sums({this->row(i), 1, columns, std::max(Index{1}, columns)}, ones_.data(), &sum, {});
    return sum;
  }

  void add_columns(A* sums) const override {
    for_each_part([&](Index j, const simd::RowBlock<A>& part) {
      kernels_.column_sums({part.data, part.rows, part.columns, part.leading_dimension}, ones_.data(), sums + j, {});
    });
  }

  void multiply_columns(const A* factors) const override {
    for_each_part([&](Index j, const simd::RowBlock<A>& part) { kernels_.multiply_columns(part, factors + j); });
  }

  template <class F>
  void for_each_part(F&& f) const {
    const auto& matrix = this->matrix();
    for (Index j = 0; j < matrix.columns(); j += blocking_.columns) {
      for (Index i = 0; i < matrix.rows(); i += blocking_.rows) {
        f(j, simd::RowBlock<A>{this->row(i) + j, std::min(blocking_.rows, matrix.rows() - i),
                               std::min(blocking_.columns, matrix.columns() - j), matrix.leading_dimension()});
      }
    }
  }

  Blocking blocking_;
  std::vector<A> ones_;
  simd::ScalingKernels<A, A> kernels_ = simd::scaling_kernels<A, A>();
};

}  // namespace

template <class A>
std::unique_ptr<Iteration<A>> typical_iteration(const IterationTask<A>& task) {
  return std::make_unique<Typical<A>>(task);
}

template <class A>
std::unique_ptr<Iteration<A>> by_rows_iteration(const IterationTask<A>& task) {
  return std::make_unique<ByRows<A>>(task);
}

template <class A>
std::unique_ptr<Iteration<A>> blocked_iteration(const IterationTask<A>& task, Blocking blocking) {
  return std::make_unique<Blocked<A>>(task, blocking);
}

#define PLAIT_INSTANTIATE(A)                                                            \
  template std::unique_ptr<Iteration<A>> typical_iteration<A>(const IterationTask<A>&); \
  template std::unique_ptr<Iteration<A>> by_rows_iteration<A>(const IterationTask<A>&); \
  template std::unique_ptr<Iteration<A>> blocked_iteration<A>(const IterationTask<A>&, Blocking)
PLAIT_INSTANTIATE(double);
PLAIT_INSTANTIATE(float);
#undef PLAIT_INSTANTIATE

}  // namespace plait::sinkhorn
