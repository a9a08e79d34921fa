#include "bench/sinkhorn/sinkhorn_parts.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "plait/base/memory.hpp"
#include "plait/base/random.hpp"
#include "plait/simd/scaling_kernels.hpp"
#include "plait/sinkhorn/scaling/iteration.hpp"

#include "bench/sinkhorn/sinkhorn_entry.hpp"
#include "bench/sinkhorn/streaming_read.hpp"

namespace plait::bench {

namespace {

enum class Algorithm : unsigned char { typical, by_rows, blocked, scaling };
enum class Part : unsigned char { rows, columns, both };

constexpr std::string_view name(Algorithm algorithm) {
  switch (algorithm) {
    case Algorithm::typical: return "algorithm-1";
    case Algorithm::by_rows: return "algorithm-2";
    case Algorithm::blocked: return "algorithm-3";
    case Algorithm::scaling: return "scaling";
  }
  return "";
}

/// A matrix of which the given share of the entries is not 0, in no order; all its marginals are 1.
class Matrix {
 public:
  Matrix(Index n, double density)
      : n_(n),
        density_(density),
        elements_(n * n),
        marginals_(static_cast<std::size_t>(n), 1.0),
        sums_(static_cast<std::size_t>(n)) {
    rewrite();
  }

  void rewrite() const {
    for (Index i = 0; i < n_; ++i) {
      for (Index j = 0; j < n_; ++j) elements_[i * n_ + j] = value(i, j);
    }
  }

  void make(Algorithm algorithm) {
    const sinkhorn::IterationTask<double> task{view(), marginals_, marginals_};
    switch (algorithm) {
      case Algorithm::typical: iteration_ = sinkhorn::typical_iteration<double>(task); return;
      case Algorithm::by_rows: iteration_ = sinkhorn::by_rows_iteration<double>(task); return;
      case Algorithm::blocked: iteration_ = sinkhorn::blocked_iteration<double>(task, {}); return;
      case Algorithm::scaling:
        iteration_ = sinkhorn::scaling_iteration<double, double>({view(), marginals_, marginals_});
    }
  }

  void iterate() {
    std::ranges::fill(sums_, 0.0);
    iteration_->rows(sums_);
    iteration_->columns(sums_);
  }

  /// Sums each row up and divides by it: the part of an iteration that reads along the rows anyway.
  void rescale_rows() {
    for (Index i = 0; i < n_; ++i) {
      double* const row = elements_.data() + i * n_;
      double sum = 0;
      for (Index j = 0; j < n_; ++j) sum += row[j];
      const double factor = 1 / sum;
      for (Index j = 0; j < n_; ++j) row[j] *= factor;
    }
  }

  /// The other part, as each algorithm does it.
  void rescale_columns(Algorithm algorithm) {
    if (algorithm == Algorithm::typical) {
      for (Index j = 0; j < n_; ++j) {
        double sum = 0;
        for (Index i = 0; i < n_; ++i) sum += elements_[i * n_ + j];
        const double factor = 1 / sum;
        for (Index i = 0; i < n_; ++i) elements_[i * n_ + j] *= factor;
      }
      return;
    }
    std::ranges::fill(sums_, 0.0);
    if (algorithm == Algorithm::by_rows) {
      for (Index i = 0; i < n_; ++i) {
        for (Index j = 0; j < n_; ++j) sums_[static_cast<std::size_t>(j)] += elements_[i * n_ + j];
      }
      for (double& sum : sums_) sum = 1 / sum;
      for (Index i = 0; i < n_; ++i) {
        for (Index j = 0; j < n_; ++j) elements_[i * n_ + j] *= sums_[static_cast<std::size_t>(j)];
      }
      return;
    }
    const auto kernels = simd::scaling_kernels<double, double>();
    for_each_block([&](Index j, const simd::RowBlock<double>& block) {
      kernels.column_sums({block.data, block.rows, block.columns, n_}, marginals_.data(), sums_.data() + j, {});
    });
    for (double& sum : sums_) sum = 1 / sum;
    for_each_block(
        [&](Index j, const simd::RowBlock<double>& block) { kernels.multiply_columns(block, sums_.data() + j); });
  }

  /// Of the sums of rows, columns, or columns after both.
  [[nodiscard]] Index wrong_sums(Part part) const {
    std::vector<double> sums(static_cast<std::size_t>(n_));
    for (Index i = 0; i < n_; ++i) {
      for (Index j = 0; j < n_; ++j)
        sums[static_cast<std::size_t>(part == Part::rows ? i : j)] += elements_[i * n_ + j];
    }
    return std::ranges::count_if(sums, [](double sum) { return !(std::abs(sum - 1) < 1e-10); });
  }

  /// Of the columns of diag(u) K diag(v).
  [[nodiscard]] Index wrong_plan() const {
    std::vector<double> sums(static_cast<std::size_t>(n_));
    for (Index i = 0; i < n_; ++i) {
      for (Index j = 0; j < n_; ++j) {
        sums[static_cast<std::size_t>(j)] += iteration_->u()[static_cast<std::size_t>(i)] * elements_[i * n_ + j] *
                                             iteration_->v()[static_cast<std::size_t>(j)];
      }
    }
    return std::ranges::count_if(sums, [](double sum) { return !(std::abs(sum - 1) < 1e-10); });
  }

  [[nodiscard]] std::span<const std::byte> bytes() const { return std::as_bytes(elements_.span()); }

 private:
  [[nodiscard]] matrix_view<double> view() const { return {elements_.data(), n_, n_, n_, StorageOrder::row_major}; }

  /// The diagonal is never 0, so that every row and column has an entry.
  [[nodiscard]] double value(Index i, Index j) const {
    const double entry = sinkhorn_entry(i, j);
    if (density_ == 1 || i == j) return entry;
    return 2 * (sinkhorn_entry(j, i + 7) - 0.5) < density_ ? entry : 0;
  }

  template <class F>
  void for_each_block(F&& f) {
    constexpr Index rows = 8;
    constexpr Index columns = 1000;
    for (Index j = 0; j < n_; j += columns) {
      for (Index i = 0; i < n_; i += rows) {
        f(j,
          simd::RowBlock<double>{elements_.data() + i * n_ + j, std::min(rows, n_ - i), std::min(columns, n_ - j), n_});
      }
    }
  }

  Index n_;
  double density_;
  Array<double> elements_;
  std::vector<double> marginals_;
  std::vector<double> sums_;
  std::unique_ptr<sinkhorn::Iteration<double>> iteration_;
};

struct PartSetting {
  Algorithm algorithm;
  Part part;
  Index n;
  double density = 1;
};

Job set_up(const PartSetting& setting) {
  const auto matrix = std::make_shared<Matrix>(setting.n, setting.density);
  Job job;
  job.rewrite = [=] {
    matrix->rewrite();
    if (setting.part == Part::both) matrix->make(setting.algorithm);
  };
  job.run = [=] {
    if (setting.part == Part::rows) {
      matrix->rescale_rows();
    } else if (setting.part == Part::columns) {
      matrix->rescale_columns(setting.algorithm);
    } else {
      matrix->iterate();
    }
  };
  job.limits = {streaming_read(matrix->bytes())};
  job.wrong_elements = [=] {
    return setting.algorithm == Algorithm::scaling ? matrix->wrong_plan() : matrix->wrong_sums(setting.part);
  };
  return job;
}

}  // namespace

std::vector<Case> sinkhorn_part_cases(mpi::Context& context, bool quick) {
  std::vector<Case> result;
  if (context.size() > 1) return result;
  const auto add = [&](const std::string& what, const PartSetting& setting) {
    Case one;
    one.name = fmt::format("{} {} double {} ranks=1", name(setting.algorithm), what, setting.n);
    one.set_up = [setting] { return set_up(setting); };
    one.repetitions = {5, 20, 1};
    result.push_back(std::move(one));
  };
  const std::vector<Index> extents = quick ? std::vector<Index>{67} : std::vector<Index>{2000, 4000, 8000, 16000};
  for (const Index n : extents) {
    add("rows", {Algorithm::typical, Part::rows, n});
    for (const Algorithm algorithm : {Algorithm::typical, Algorithm::by_rows, Algorithm::blocked}) {
      add("columns", {algorithm, Part::columns, n});
    }
  }
  const Index n = quick ? 67 : 4000;
  for (const double density : {0.95, 0.5, 0.05}) {
    for (const Algorithm algorithm : {Algorithm::typical, Algorithm::blocked, Algorithm::scaling}) {
      add(fmt::format("density={:g}%", 100 * density), {algorithm, Part::both, n, density});
    }
  }
  return result;
}

}  // namespace plait::bench
