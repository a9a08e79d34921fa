// Each kernel on every instruction set that this machine has, beside its definition point by point.
#include "plait/poisson/row_kernels.hpp"

#include <array>
#include <cmath>
#include <cstdint>
#include <deque>
#include <vector>

#include <gtest/gtest.h>

#include "plait/base/random.hpp"

namespace plait::test {
namespace {

using namespace poisson;

template <class T>
class PoissonRowKernels : public ::testing::Test {
 protected:
  static constexpr Index length = 120, begin = 40;  // what lies before and behind a row is read, too

  // Between 1 and 2.
  std::vector<T>& values() {
    memory_.emplace_back(at(length));
    for (T& value : memory_.back()) value = static_cast<T>(1 + random_uniform(1, draws_++));
    return memory_.back();
  }
  const T* row() { return values().data() + begin; }

  static void expect_near(T found, double expected) {
    EXPECT_NEAR(static_cast<double>(found), expected, (sizeof(T) == 4 ? 2e-6 : 1e-14) * (1 + std::abs(expected)));
  }

  template <class F>
  void for_each_case(const F& f) {
    for (const simd::Isa isa : simd::supported_isas()) {
      for (const Index count : {1, 2, 7, 16, 33}) {
        SCOPED_TRACE(::testing::Message() << simd::name(isa) << ", " << count);
        f(isa, count);
      }
    }
  }

 private:
  std::deque<std::vector<T>> memory_;
  std::uint64_t draws_ = 0;
};

using Types = ::testing::Types<float, double>;
TYPED_TEST_SUITE(PoissonRowKernels, Types);

TYPED_TEST(PoissonRowKernels, RelaxPointsAndTakeResiduals) {
  using T = TypeParam;
  this->for_each_case([&](simd::Isa isa, Index count) {
    for (const int cross : {1, 2}) {
      for (const bool varies : {false, true}) {
        RowStencil<T> row{};
        for (auto* pointer : {&row.u, &row.b, &row.left, &row.right, &row.weight_left, &row.weight_right, &row.inverse,
                              &row.c_left, &row.c_right, &row.inverse_width}) {
          *pointer = this->row();
        }
        for (auto* pair : {&row.below, &row.above, &row.c_below, &row.c_above}) *pair = {this->row(), this->row()};
        row.weight_below = {2, 3};
        row.weight_above = {0.5, 0.25};
        row.inverse_widths = {1.5, 0.75};
        row.rows = 2;  // of which the second one is one element further
        row.step = 1;
        const auto& kernels = row_kernels<T>(isa).stencils[at(cross - 1)][varies ? 1 : 0];
        for (const bool is_zero : {false, true}) {
          for (Index r = 0; r < 2; ++r) {
            const auto check = [&](const auto& kernel, const auto& expected) {
              RowStencil<T> one = row;
              one.rows = r + 1;
              std::vector<T> out(200, T{-7});
              kernel(one, count, out.data());
              for (Index x = 0; x < count; ++x) this->expect_near(out[at(x + r)], expected(x));
              for (std::size_t x = at(count + r + most_lanes); x < out.size(); ++x) ASSERT_EQ(out[x], T{-7});
            };
            // What the weights of a row are at is the same for all rows, unless k varies.
            const auto terms = [&](Index x, const auto& f) {
              const Index k = x + r;
              const double w = varies ? row.inverse_width[x] : 1;
              f(w * (varies ? row.c_left[k] : row.weight_left[x]), row.left[k]);
              f(w * (varies ? row.c_right[k] : row.weight_right[x]), row.right[k]);
              for (std::size_t a = 0; a < at(cross); ++a) {
                const double v = row.inverse_widths[a];
                f(varies ? v * row.c_below[a][k] : row.weight_below[a], row.below[a][k]);
                f(varies ? v * row.c_above[a][k] : row.weight_above[a], row.above[a][k]);
              }
            };
            check(is_zero ? kernels.begin : kernels.relax, [&](Index x) {
              double sum = row.b[x + r], diagonal = 0;
              terms(x, [&](double c, double next) {
                diagonal += c;
                if (!is_zero) sum += c * next;
              });
              return sum * (varies ? 1 / diagonal : static_cast<double>(row.inverse[x]));
            });
            check(kernels.residual, [&](Index x) {
              double sum = row.b[x + r];
              terms(x, [&](double c, double next) { sum += c * (next - static_cast<double>(row.u[x + r])); });
              return sum;
            });
          }
        }
      }
    }
  });
}

TYPED_TEST(PoissonRowKernels, LeavePointsWithoutADiagonalAtZero) {
  using T = TypeParam;
  this->for_each_case([&](simd::Isa isa, Index count) {
    const std::vector<T> none(100);
    RowStencil<T> row{};
    row.b = this->row();
    row.left = row.right = row.c_left = row.c_right = row.inverse_width = none.data();
    row.below = row.above = row.c_below = row.c_above = {none.data(), none.data()};
    std::vector<T> out(100, T{-7});
    row_kernels<T>(isa).stencils[1][1].relax(row, count, out.data());
    for (Index x = 0; x < count; ++x) EXPECT_EQ(out[at(x)], T{});
  });
}

TYPED_TEST(PoissonRowKernels, MoveValuesBetweenLevels) {
  using T = TypeParam;
  this->for_each_case([&](simd::Isa isa, Index count) {
    const auto& kernels = row_kernels<T>(isa);
    WeightedRows<T> even, odd;
    for (int r = 0; r < 5; ++r) even.add(this->row(), static_cast<T>(r + 1));
    for (int r = 0; r < 4; ++r) odd.add(this->row(), T{0.5});
    const auto weighted = [](const WeightedRows<T>& rows, Index x) {
      double sum = 0;
      for (std::size_t r = 0; r < rows.count; ++r) sum += static_cast<double>(rows.weights[r]) * rows.rows[r][x];
      return sum;
    };
    const std::array<const T*, 3> taps{this->row(), this->row(), this->row()};
    std::vector<T> out(200), other(200);
    for (const bool has_three : {false, true}) {
      kernels.restrict_row(even, odd, {taps[0], taps[1], has_three ? taps[2] : nullptr}, count, out.data(),
                           other.data());
      for (Index x = 0; x < count; ++x) {
        this->expect_near((x % 2 == 0 ? out : other)[at(x / 2)],
                          taps[0][x] * weighted(even, x) + taps[1][x] * weighted(odd, x) +
                              (has_three ? taps[2][x] * weighted(even, x + 1) : 0));
      }
    }
    kernels.sum(even, count, out.data());
    for (Index x = 0; x < count; ++x) this->expect_near(out[at(x)], weighted(even, x));
    std::vector<T> u(200, T{3});
    kernels.interpolate(taps[0], taps[1], taps[2], taps[2] + 1, count, u.data());
    for (Index x = 0; x < count; ++x) {
      this->expect_near(u[at(x)], 3 + static_cast<double>(taps[0][x]) * taps[2][x] +
                                      static_cast<double>(taps[1][x]) * taps[2][x + 1]);
    }
    std::vector<T> joined(200);
    kernels.join(taps[0], taps[1], count, joined.data());
    for (Index x = 0; x < count; ++x) {
      EXPECT_EQ(joined[at(2 * x)], taps[0][x]);
      EXPECT_EQ(joined[at(2 * x + 1)], taps[1][x]);
    }
  });
}

TYPED_TEST(PoissonRowKernels, MakeConductancesOfResistancesInSeries) {
  using T = TypeParam;
  this->for_each_case([&](simd::Isa isa, Index count) {
    const T *const below = this->row(), *const above = this->row();
    std::vector<T>&shares = this->values(), &others = this->values();
    shares[0] = 0;  // at a side, behind which there is no k
    others[1] = 0;
    shares[2] = others[2] = 0;
    std::vector<T> out(200);
    row_kernels<T>(isa).conductance(below, above, {shares.data(), others.data()}, {2, 3}, count, out.data());
    for (Index x = 0; x < count; ++x) {
      const double resistance =
          2. * static_cast<double>(shares[at(x)]) / below[x] + 3. * static_cast<double>(others[at(x)]) / above[x];
      this->expect_near(out[at(x)], resistance == 0 ? 0 : 1 / resistance);
    }
  });
}

TYPED_TEST(PoissonRowKernels, MoveValuesOfTheRowAloneFromDoublesToHalvesAndBack) {
  using T = TypeParam;
  this->for_each_case([&](simd::Isa isa, Index count) {
    std::vector<T> even(100, T{-7}), odd(100, T{-7});
    std::vector<double> u(100, 1);
    for (Index x = 0; x < count; ++x) u[at(x)] = static_cast<double>(x);
    const auto& kernels = row_kernels<T>(isa);
    kernels.split(u.data(), 0.5, count, even.data(), odd.data());
    for (Index x = 0; x < 100; ++x) {
      EXPECT_EQ(even[at(x)], 2 * x < count ? static_cast<T>(x) : T{-7});
      EXPECT_EQ(odd[at(x)], 2 * x + 1 < count ? static_cast<T>(x) + T{0.5} : T{-7});
    }
    kernels.add(even.data(), odd.data(), 4, count, u.data());
    for (Index x = 0; x < 100; ++x) EXPECT_EQ(u[at(x)], x < count ? 3. * static_cast<double>(x) : 1);
  });
}

}  // namespace
}  // namespace plait::test
