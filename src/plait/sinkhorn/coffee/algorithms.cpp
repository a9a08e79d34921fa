#include "plait/sinkhorn/coffee/algorithms.hpp"

#include <algorithm>
#include <utility>

#include "plait/simd/sweep/scaling_kernels.hpp"

namespace plait::sinkhorn {

namespace {

/// What the three have in common: the matrix becomes the plan, and the columns are multiplied in a pass of their own.
template <class A>
class Baseline : public PartwiseIteration<A> {
 public:
  explicit Baseline(const IterationTask<A>& task)
      : PartwiseIteration<A>(task.row_marginals, task.column_marginals),
        matrix_(task.rows),
        by_column_(task.column_marginals.size(), A{1}) {}

  void add_rows(std::span<A> sums) final {
    for (Index i = 0; i < matrix_.rows(); ++i) rescale_row(i);
    add_columns(sums.data());
  }

  [[nodiscard]] Index steps(Index columns) const final {
    const Index rows = rows_of_step(columns);
    return std::max(Index{1}, (matrix_.rows() + rows - 1) / rows);
  }

  void rescale(Index first, std::span<const A> sums, Index step) final {
    if (step == 0) find_factors(first, sums);
    const auto count = static_cast<Index>(sums.size());
    const Index begin = step * rows_of_step(count);
    multiply({begin, std::min(matrix_.rows(), begin + rows_of_step(count)), first, first + count});
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

  /// Rows [begin, end) and columns [first, last).
  struct Part {
    Index begin, end;
    Index first, last;
  };
  /// \param factors  of all columns
  virtual void multiply_columns(const Part& part, const A* factors) const = 0;

 private:
  /// So many that a step takes well under a tenth of a millisecond, and whole blocks of Algorithm 3.
  [[nodiscard]] static Index rows_of_step(Index columns) {
    constexpr Index elements = Index{1} << 16;
    constexpr Index block = 8;
    return std::max(Index{1}, elements / block / std::max(Index{1}, columns)) * block;
  }

  void all_columns(std::span<const A> sums) final {
    find_factors(0, sums);
    multiply({0, matrix_.rows(), 0, matrix_.columns()});
  }

  void find_factors(Index first, std::span<const A> sums) {
    for (std::size_t k = 0; k < sums.size(); ++k) {
      const auto j = static_cast<std::size_t>(first) + k;
      by_column_[j] = this->factors().of_column(j, sums[k]);
      this->factors().v[j] *= by_column_[j];
    }
  }

  void multiply(const Part& part) const { multiply_columns(part, by_column_.data()); }

  void rescale_row(Index i) {
    const A factor = this->factors().of_row(i, sum_of_row(i));
    this->factors().u[static_cast<std::size_t>(i)] *= factor;
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

  void multiply_columns(const typename Baseline<A>::Part& part, const A* factors) const override {
    for (Index j = part.first; j < part.last; ++j) {
      for (Index i = part.begin; i < part.end; ++i) this->row(i)[j] *= factors[j];
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

  void multiply_columns(const typename Baseline<A>::Part& part, const A* factors) const override {
    for (Index i = part.begin; i < part.end; ++i) {
      A* elements = this->row(i);
      for (Index j = part.first; j < part.last; ++j) elements[j] *= factors[j];
    }
  }
};

template <class A>
class Blocked final : public Baseline<A> {
  using Part = typename Baseline<A>::Part;

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
    for_each_block({0, this->matrix().rows(), 0, this->matrix().columns()}, [&](Index j, const auto& block) {
      kernels_.column_sums({block.data, block.rows, block.columns, block.leading_dimension}, ones_.data(), sums + j,
                           {});
    });
  }

  void multiply_columns(const Part& part, const A* factors) const override {
    for_each_block(part, [&](Index j, const auto& block) { kernels_.multiply_columns(block, factors + j); });
  }

  template <class F>
  void for_each_block(const Part& part, F&& f) const {
    for (Index j = part.first; j < part.last; j += blocking_.columns) {
      for (Index i = part.begin; i < part.end; i += blocking_.rows) {
        f(j, simd::RowBlock<A>{this->row(i) + j, std::min(blocking_.rows, part.end - i),
                               std::min(blocking_.columns, part.last - j), this->matrix().leading_dimension()});
      }
    }
  }

  Blocking blocking_;
  std::vector<A> ones_;
  simd::ScalingKernels<A, A> kernels_ = simd::scaling_kernels<A, A>();
};

}  // namespace

template <class A>
std::unique_ptr<PartwiseIteration<A>> typical_iteration(const IterationTask<A>& task) {
  return std::make_unique<Typical<A>>(task);
}

template <class A>
std::unique_ptr<PartwiseIteration<A>> by_rows_iteration(const IterationTask<A>& task) {
  return std::make_unique<ByRows<A>>(task);
}

template <class A>
std::unique_ptr<PartwiseIteration<A>> blocked_iteration(const IterationTask<A>& task, Blocking blocking) {
  return std::make_unique<Blocked<A>>(task, blocking);
}

// NOLINTBEGIN(bugprone-macro-parentheses): a type can not stand in them
#define PLAIT_INSTANTIATE(A)                                                                 \
  template std::unique_ptr<PartwiseIteration<A>> typical_iteration(const IterationTask<A>&); \
  template std::unique_ptr<PartwiseIteration<A>> by_rows_iteration(const IterationTask<A>&); \
  template std::unique_ptr<PartwiseIteration<A>> blocked_iteration(const IterationTask<A>&, Blocking)
PLAIT_INSTANTIATE(double);
PLAIT_INSTANTIATE(float);
#undef PLAIT_INSTANTIATE
// NOLINTEND(bugprone-macro-parentheses)

}  // namespace plait::sinkhorn
