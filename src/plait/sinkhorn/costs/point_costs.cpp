#include "plait/sinkhorn/costs/point_costs.hpp"

#include <algorithm>
#include <cmath>

#include "plait/mpi/agreed.hpp"
#include "plait/mpi/collectives.hpp"

namespace plait::sinkhorn {

namespace {

/// The textbook's formula, for what is no sum of squares or absolute values.
template <class A>
double minkowski(const A* x, const A* y, Index coordinates, double p) {
  double largest = 0;
  for (Index k = 0; k < coordinates; ++k) {
    largest = std::max(largest, std::abs(static_cast<double>(x[k]) - static_cast<double>(y[k])));
  }
  if (largest == 0) return 0;
  double sum = 0;  // of powers that can't leave the range
  for (Index k = 0; k < coordinates; ++k) {
    sum += std::pow(std::abs(static_cast<double>(x[k]) - static_cast<double>(y[k])) / largest, p);
  }
  return largest * std::pow(sum, 1 / p);
}

}  // namespace

template <class A>
PointCosts<A>::PointCosts(const PointClouds<A>& clouds)
    : CostOperand<A>(clouds.x.rows(), clouds.y.rows()),
      clouds_(clouds),
      panels_(simd::panels_of(clouds.y.rows())),
      others_(panels_ * simd::panel_points * clouds.y.columns()),
      block_(block_rows * std::max(Index{1}, panels_) * simd::panel_points) {
  std::fill_n(others_.data(), others_.size(), A{0});
  std::fill_n(block_.data(), block_.size(), A{0});
  const Index coordinates = clouds.y.columns();
  for (Index j = 0; j < clouds.y.rows(); ++j) {
    const A* point = clouds.y.data() + j * clouds.y.leading_dimension();
    A* to = others_.data() + j / simd::panel_points * simd::panel_points * coordinates + j % simd::panel_points;
    for (Index k = 0; k < coordinates; ++k) to[k * simd::panel_points] = point[k];
  }
}

template <class A>
void PointCosts<A>::set_epsilon(double epsilon, Index together) {
  epsilon_ = epsilon;
  const Index leading_dimension = std::max(Index{1}, panels_) * simd::panel_points;
  const auto over = [&](Index rows) {
    return LogSweep<A, A>(
        matrix_view<const A>(block_.data(), rows, this->columns(), leading_dimension, StorageOrder::row_major), epsilon,
        together);
  };
  sweep_.emplace(over(block_rows));
  last_sweep_.emplace(over(this->rows() % block_rows));
}

template <class A>
void PointCosts<A>::make(Index first, Index count) {
  const Index leading_dimension = std::max(Index{1}, panels_) * simd::panel_points;
  const simd::RowBlock<A> costs{block_.data(), count, leading_dimension, leading_dimension};
  const simd::RowBlock<const A> points{clouds_.x.data() + first * clouds_.x.leading_dimension(), count,
                                       clouds_.x.columns(), clouds_.x.leading_dimension()};
  switch (clouds_.metric) {
    case Metric::squared_euclidean: return distances_.squared(points, others_.data(), panels_, costs);
    case Metric::euclidean: return distances_.euclidean(points, others_.data(), panels_, costs);
    case Metric::cityblock: return distances_.cityblock(points, others_.data(), panels_, costs);
    case Metric::minkowski: break;
  }
  for (Index i = 0; i < count; ++i) {
    for (Index j = 0; j < this->columns(); ++j) {
      block_[i * leading_dimension + j] =
          static_cast<A>(minkowski(points.data + i * points.leading_dimension,
                                   clouds_.y.data() + j * clouds_.y.leading_dimension(), points.columns, clouds_.p));
    }
  }
}

template <class A>
template <class F>
void PointCosts<A>::for_each_block(F&& f) {
  for (Index first = 0; first < this->rows(); first += block_rows) {
    const Index count = std::min(block_rows, this->rows() - first);
    make(first, count);
    f(first, count, count == block_rows ? *sweep_ : *last_sweep_);
  }
}

template <class A>
std::span<const LogVectors<A>> PointCosts<A>::of_rows(std::span<const LogVectors<A>> problems, Index first,
                                                      Index count) {
  in_block_.clear();
  for (const LogVectors<A>& problem : problems) in_block_.push_back(problem.of_rows(first, count));
  return in_block_;
}

template <class A>
void PointCosts<A>::sweep(std::span<const LogVectors<A>> problems, const LogUpdate& update,
                          std::span<RowsSwept> swept) {
  for_each_block([&](Index first, Index count, LogSweep<A, A>& sweep) {
    sweep.rows(of_rows(problems, first, count), update, swept);
  });
}

template <class A>
void PointCosts<A>::sweep_in_common(std::span<const LogVectors<A>> problems, std::span<const double> weights,
                                    std::span<double> log_sums) {
  for_each_block([&](Index first, Index count, LogSweep<A, A>& sweep) {
    sweep.rows_in_common(of_rows(problems, first, count), weights,
                         log_sums.subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(count)));
  });
}

template <class A>
std::vector<CheckedMarginals> PointCosts<A>::reachable(mpi::Context& context,
                                                       std::span<const CheckedMarginals> problems) {
  const auto has_mass = [](const std::vector<double>& masses) {
    return std::ranges::any_of(masses, [](double mass) { return mass > 0; });
  };
  std::vector<CheckedMarginals> reached;
  std::vector<int> rows_have;
  mpi::agreed(context, [&] {
    reached.assign(problems.begin(), problems.end());
    for (const CheckedMarginals& marginals : problems) rows_have.push_back(has_mass(marginals.rows) ? 1 : 0);
  });
  mpi::all_reduce(context.comm(), std::span<int>(rows_have), mpi::Operation::maximum());
  for (std::size_t k = 0; k < problems.size(); ++k) {
    if (!has_mass(problems[k].columns)) std::ranges::fill(reached[k].rows, 0.0);
    if (rows_have[k] == 0) std::ranges::fill(reached[k].columns, 0.0);
  }
  return reached;
}

template <class A>
double PointCosts<A>::cost(Index i, std::size_t j) const {
  const A* x = clouds_.x.data() + i * clouds_.x.leading_dimension();
  const A* y = clouds_.y.data() + static_cast<Index>(j) * clouds_.y.leading_dimension();
  if (clouds_.metric == Metric::minkowski) return minkowski(x, y, clouds_.x.columns(), clouds_.p);
  double sum = 0;
  for (Index k = 0; k < clouds_.x.columns(); ++k) {
    const double t = static_cast<double>(x[k]) - static_cast<double>(y[k]);
    sum += clouds_.metric == Metric::cityblock ? std::abs(t) : t * t;
  }
  return clouds_.metric == Metric::euclidean ? std::sqrt(sum) : sum;
}

template <class A>
void PointCosts<A>::column_maxima(std::span<const std::size_t> columns, std::span<const A> f,
                                  std::span<double> maxima) {
  for (Index i = 0; i < this->rows(); ++i) {
    const auto of_row = static_cast<double>(f[static_cast<std::size_t>(i)]);
    for (std::size_t k = 0; k < columns.size(); ++k) {
      maxima[k] = std::max(maxima[k], of_row - cost(i, columns[k]) / epsilon_);
    }
  }
}

template <class A>
void PointCosts<A>::column_sums(std::span<const std::size_t> columns, std::span<const A> f,
                                std::span<const double> maxima, std::span<double> sums) {
  for (Index i = 0; i < this->rows(); ++i) {
    const auto of_row = static_cast<double>(f[static_cast<std::size_t>(i)]);
    for (std::size_t k = 0; k < columns.size(); ++k) {
      sums[k] += std::exp(of_row - cost(i, columns[k]) / epsilon_ - maxima[k]);
    }
  }
}

template <class A>
void PointCosts<A>::for_each_row(std::span<const A> f, std::span<const A> g,
                                 const std::function<void(const PlanRow<A>&)>& visit) {
  const Index leading_dimension = std::max(Index{1}, panels_) * simd::panel_points;
  for_each_block([&](Index first, Index count, LogSweep<A, A>& sweep) {
    const auto of_rows = f.subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(count));
    sweep.for_each_row(of_rows, g, [&](Index i, std::span<const A> plan) {
      const A* costs = block_.data() + i * leading_dimension;
      double cost = 0;
      for (std::size_t j = 0; j < plan.size(); ++j) {
        cost += static_cast<double>(costs[j]) * static_cast<double>(plan[j]);
      }
      visit({first + i, plan, cost});
    });
  });
}

template <class A>
void PointCosts<A>::for_each_weights(std::span<const A> g,
                                     const std::function<void(Index, std::span<const A>)>& visit) {
  const Index leading_dimension = std::max(Index{1}, panels_) * simd::panel_points;
  const auto factor = static_cast<A>(-1 / epsilon_);
  if (weights_.size() < leading_dimension) weights_ = Array<A>(leading_dimension);
  for_each_block([&](Index first, Index count, LogSweep<A, A>&) {
    for (Index i = 0; i < count; ++i) {
      const simd::RowBlock<const A> costs{block_.data() + i * leading_dimension, 1, this->columns(), leading_dimension};
      A maximum{};
      exponential_.row_maxima(costs, factor, g.data(), &maximum);
      const A potential = std::isfinite(maximum) ? -maximum : A{0};
      A sum{};
      exponential_.exponential_sums(costs, factor, &potential, g.data(),
                                    {weights_.data(), 1, this->columns(), leading_dimension}, &sum);
      visit(first + i, {weights_.data(), static_cast<std::size_t>(this->columns())});
    }
  });
}

template <class A>
void PointCosts<A>::fill(matrix_view<A> kernel, std::span<A> f, std::span<const A> g) {
  const auto factor = static_cast<A>(-1 / epsilon_);
  const Index leading_dimension = std::max(Index{1}, panels_) * simd::panel_points;
  for_each_weights(g, [&](Index i, std::span<const A> weights) {
    std::ranges::copy(weights, kernel.data() + i * kernel.leading_dimension());
    A maximum{};
    exponential_.row_maxima({block_.data() + i % block_rows * leading_dimension, 1, this->columns(), leading_dimension},
                            factor, g.data(), &maximum);
    f[static_cast<std::size_t>(i)] = std::isfinite(maximum) ? -maximum : A{0};
  });
}

template class PointCosts<double>;
template class PointCosts<float>;

}  // namespace plait::sinkhorn
