#include "bench/sinkhorn/sinkhorn_points.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <memory>
#include <string>
#include <type_traits>

#include <fmt/format.h>

#include "plait/base/random.hpp"
#include "plait/simd/sweep/exponential_kernels.hpp"
#include "plait/sinkhorn/costs/point_costs.hpp"

extern "C" void dgemm_(const char* op_a, const char* op_b, const int* m, const int* n, const int* k,
                       const double* alpha, const double* a, const int* lda, const double* b, const int* ldb,
                       const double* beta, double* c, const int* ldc);

namespace plait::bench {

namespace {

/// Some rows of N, with all columns.
template <class A>
class PointSweep {
 public:
  PointSweep(Index rows, Index columns, Index coordinates)
      : x_(numbers(1, rows * coordinates)),
        y_(numbers(2, columns * coordinates)),
        marginals_(static_cast<std::size_t>(rows), 1.0),
        g_(static_cast<std::size_t>(columns)),
        costs_(sinkhorn::point_costs<A>({{x_.data(), rows, coordinates, coordinates, StorageOrder::row_major},
                                         {y_.data(), columns, coordinates, coordinates, StorageOrder::row_major}},
                                        1)),
        coordinates_(coordinates) {
    costs_->set_epsilon(epsilon(), 1);
    rewrite();
  }

  void rewrite() {
    f_.assign(marginals_.size(), A{0});
    sums_.assign(g_.size(), A{0});
  }

  void sweep() {
    const sinkhorn::LogVectors<A> vectors{marginals_, f_, g_, sums_};
    sinkhorn::RowsSwept swept;
    costs_->sweep({&vectors, 1}, sinkhorn::LogUpdate(1), {&swept, 1});
  }

  /// As many exponentials as a sweep has, of eight rows whose costs and results stay in the first-level cache.
  void exponentials() {
    constexpr Index rows = 8;
    constexpr Index columns = 2048 / Index{sizeof(A)};
    alignas(64) static std::array<A, static_cast<std::size_t>(rows * columns)> costs;
    alignas(64) static std::array<A, static_cast<std::size_t>(rows * columns)> powers;
    std::array<A, rows> f{};
    std::array<A, rows> sums;
    const auto kernel = simd::exponential_kernels<A, A>().exponential_sums;
    const auto entries = costs_->rows() * costs_->columns();
    for (Index done = 0; done < entries; done += rows * columns) {
      kernel({costs.data(), rows, columns, columns}, A{-1}, f.data(), g_.data(),
             {powers.data(), rows, columns, columns}, sums.data());
    }
  }

  /// The products of all coordinates, some rows at a time.
  void products() {
    if constexpr (std::is_same_v<A, double>) {
      constexpr Index at_a_time = 64;
      const auto columns = static_cast<int>(costs_->columns());
      const auto coordinates = static_cast<int>(coordinates_);
      products_.resize(static_cast<std::size_t>(at_a_time * costs_->columns()));
      const double one = 1, zero = 0;
      for (Index i = 0; i < costs_->rows(); i += at_a_time) {
        const auto rows = static_cast<int>(std::min(at_a_time, costs_->rows() - i));
        dgemm_("T", "N", &columns, &rows, &coordinates, &one, y_.data(), &coordinates, x_.data() + i * coordinates_,
               &coordinates, &zero, products_.data(), &columns);
      }
    }
  }

  /// Some rows and columns by the textbook.
  [[nodiscard]] Index wrong_elements() const {
    constexpr double accuracy = std::is_same_v<A, double> ? 1e-9 : 1e-3;
    Index wrong = 0;
    const auto is_near = [&](double found, double expected) {
      return std::abs(found - expected) <= accuracy * std::abs(expected);
    };
    for (Index i = 0; i < costs_->rows(); i += costs_->rows() / 3 + 1) {
      double sum = 0;
      for (Index j = 0; j < costs_->columns(); ++j) sum += std::exp(-cost(i, j) / epsilon());
      if (!is_near(std::exp(static_cast<double>(f_[static_cast<std::size_t>(i)])) * sum, 1)) ++wrong;
    }
    for (Index j = 0; j < costs_->columns(); j += costs_->columns() / 3 + 1) {
      double sum = 0;
      for (Index i = 0; i < costs_->rows(); ++i) {
        sum += std::exp(static_cast<double>(f_[static_cast<std::size_t>(i)]) - cost(i, j) / epsilon());
      }
      if (!is_near(static_cast<double>(sums_[static_cast<std::size_t>(j)]), sum)) ++wrong;
    }
    return wrong;
  }

 private:
  [[nodiscard]] static std::vector<A> numbers(std::uint64_t key, Index count) {
    std::vector<A> made;
    for (Index i = 0; i < count; ++i)
      made.push_back(static_cast<A>(random_uniform(key, static_cast<std::uint64_t>(i))));
    return made;
  }
  [[nodiscard]] double epsilon() const { return 0.1 * static_cast<double>(coordinates_); }
  [[nodiscard]] double cost(Index i, Index j) const {
    double sum = 0;
    for (Index k = 0; k < coordinates_; ++k) {
      const double t = static_cast<double>(x_[static_cast<std::size_t>(i * coordinates_ + k)]) -
                       static_cast<double>(y_[static_cast<std::size_t>(j * coordinates_ + k)]);
      sum += t * t;
    }
    return sum;
  }

  std::vector<A> x_;
  std::vector<A> y_;
  std::vector<double> marginals_;
  std::vector<A> f_;
  std::vector<A> g_;
  std::vector<A> sums_;
  std::vector<A> products_;
  std::unique_ptr<sinkhorn::CostOperand<A>> costs_;
  Index coordinates_;
};

template <class A>
Job set_up(Index rows, Index columns, Index coordinates) {
  const auto sweep = std::make_shared<PointSweep<A>>(rows, columns, coordinates);
  Job job;
  job.rewrite = [=] { sweep->rewrite(); };
  const auto is_of_peer = std::make_shared<bool>(false);
  job.run = [=] {
    *is_of_peer = false;
    sweep->sweep();
  };
  job.wrong_elements = [=] { return sweep->wrong_elements(); };
  if (coordinates > 3 && std::is_same_v<A, double>) {
    job.limits = {{"dgemm", [=] { sweep->products(); }}};
  } else {
    job.limits = {{"exponentials in cache", [=] { sweep->exponentials(); }}};
  }
  if constexpr (std::is_same_v<A, float>) {
    const auto twice = std::make_shared<PointSweep<double>>(rows, columns, coordinates);
    job.peer = Contender{"doubles", [=] {
                           *is_of_peer = true;
                           twice->rewrite();
                           twice->sweep();
                         }};
    job.wrong_elements = [=] { return *is_of_peer ? twice->wrong_elements() : sweep->wrong_elements(); };
  }
  return job;
}

}  // namespace

std::vector<Case> sinkhorn_point_cases(mpi::Context& context, bool quick) {
  std::vector<Case> result;
  if (context.size() > 1) return result;
  const std::vector<Index> extents = quick ? std::vector<Index>{211} : std::vector<Index>{4000, 20'000, 40'000};
  for (const Index n : extents) {
    const Index rows = std::min(n, Index{2048});
    for (const Index coordinates : {2, 3, 64}) {
      for (const bool is_single : {false, true}) {
        Case one;
        one.name = fmt::format("points {} d={} {}x{} ranks=1", is_single ? "float" : "double", coordinates, rows, n);
        if (!quick && !is_single) one.gate.fraction_of_limit = coordinates == 64 ? 0.5 : 0.85;
        if (n == 20'000 && is_single) one.gate.speedup_over_peer = 1.7;
        one.set_up = [=] {
          return is_single ? set_up<float>(rows, n, coordinates) : set_up<double>(rows, n, coordinates);
        };
        one.repetitions = {5, 20, 1};
        result.push_back(std::move(one));
      }
    }
  }
  return result;
}

}  // namespace plait::bench
