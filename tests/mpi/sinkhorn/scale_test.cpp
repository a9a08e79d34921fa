#include "plait/sinkhorn/scaling/scale.hpp"

#include <algorithm>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "plait/base/error.hpp"
#include "plait/simd/row_block.hpp"
#include "plait/sinkhorn/coffee/scale_in_place.hpp"
#include "plait/sinkhorn/marginals/feasibility.hpp"
#include "plait/sinkhorn/scaling/rows.hpp"
#include "plait/sinkhorn/transport/transport.hpp"

#include "mpi/mpi/pretended_nodes.hpp"
#include "mpi/sinkhorn/problem.hpp"
#include "support/message_of.hpp"
#include "support/ranks.hpp"

namespace plait::test {
namespace {

using sinkhorn::InPlaceForm;
using sinkhorn::Limits;
using sinkhorn::Marginals;
using sinkhorn::Scaling;
using sinkhorn::Status;
using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr InPlaceForm in_place_forms[] = {InPlaceForm::fused, InPlaceForm::typical, InPlaceForm::by_rows,
                                          InPlaceForm::blocked};

struct Sinkhorn : ::testing::Test {
  mpi::Context context{test_comm()};

  template <class T, class A>
  Scaling<A> scaled(const WholeProblem& whole, const Limits& limits = {}) {
    const OwnRows<T> own(whole);
    return sinkhorn::scale<T, A>(context, own.const_view(), {own.r, whole.c}, limits);
  }
};

/// The largest |u K v - reference| of this rank's rows, relative to the largest entry of the reference.
template <class T, class A>
double distance_of_plan(const OwnRows<T>& own, const Scaling<A>& scaling, const std::vector<long double>& reference) {
  long double most = 0;
  long double largest = 0;
  for (const long double entry : reference) largest = std::max(largest, entry);
  for (Index i = 0; i < own.rows; ++i) {
    for (Index j = 0; j < own.columns; ++j) {
      const long double entry = static_cast<long double>(scaling.u[static_cast<std::size_t>(i)]) *
                                simd::widened<double>(own.const_view()(i, j)) *
                                static_cast<long double>(scaling.v[static_cast<std::size_t>(j)]);
      most = std::max(most, std::abs(entry - reference[static_cast<std::size_t>((own.first + i) * own.columns + j)]));
    }
  }
  return largest == 0 ? static_cast<double>(most) : static_cast<double>(most / largest);
}

template <class T, class A>
void expect_the_plan_of_the_reference(mpi::Context& context, const WholeProblem& whole, double tolerance,
                                      double accuracy) {
  const std::vector<long double> reference = reference_plan(whole);
  const OwnRows<T> own(whole);
  const auto scaling = sinkhorn::scale<T, A>(context, own.const_view(), {own.r, whole.c}, {.tolerance = tolerance});
  EXPECT_EQ(scaling.outcome.status, Status::converged) << scaling.outcome.reason;
  EXPECT_EQ(static_cast<Index>(scaling.outcome.errors.size()), scaling.outcome.iterations);
  EXPECT_LE(scaling.outcome.error, tolerance);
  EXPECT_LE(distance_of_plan(own, scaling, reference), accuracy);
}

TEST_F(Sinkhorn, FindsThePlanOfTheReferenceForAnyShape) {
  const Index shapes[][2] = {{1, 1}, {1, 7}, {7, 1}, {2, 3}, {5, 5}, {13, 40}, {37, 8}, {33, 129}, {64, 17}};
  for (const auto& shape : shapes) {
    SCOPED_TRACE(std::to_string(shape[0]) + " x " + std::to_string(shape[1]));
    expect_the_plan_of_the_reference<double, double>(context, random_problem(shape[0], shape[1], 1), 1e-14, 1e-12);
  }
}

TEST_F(Sinkhorn, FindsItInEveryPrecisionAsWellAsThatAllows) {
  const WholeProblem whole = random_problem(29, 41, 2);
  expect_the_plan_of_the_reference<float, float>(context, whole, 3e-6, 1e-5);
  expect_the_plan_of_the_reference<float, double>(context, whole, 1e-13, 3e-7);
  expect_the_plan_of_the_reference<simd::BFloat16, float>(context, whole, 3e-6, 2e-2);
}

TEST_F(Sinkhorn, MakesThePlanInPlaceByEveryForm) {
  for (const auto& [rows, columns] : {std::pair<Index, Index>{23, 31}, {3, 18}, {17, 2}}) {
    const WholeProblem whole = random_problem(rows, columns, 3);
    const std::vector<long double> reference = reference_plan(whole);
    const OwnRows<double> before(whole);
    for (const InPlaceForm form : in_place_forms) {
      OwnRows<double> own(whole);
      const auto scaling = sinkhorn::scale_in_place<double, double>(context, own.view(), {own.r, whole.c}, form,
                                                                    {.tolerance = 1e-13}, {.rows = 3, .columns = 5});
      EXPECT_EQ(scaling.outcome.status, Status::converged) << scaling.outcome.reason;
      EXPECT_LE(distance_of_plan(before, scaling, reference), 1e-12);
      for (Index i = 0; i < own.rows; ++i) {
        for (Index j = 0; j < columns; ++j) {
          EXPECT_NEAR(own.view()(i, j),
                      static_cast<double>(reference[static_cast<std::size_t>((own.first + i) * columns + j)]), 1e-13);
        }
        for (Index j = columns; j < columns + 2; ++j) {  // nothing behind the rows was written
          EXPECT_EQ(own.elements[static_cast<std::size_t>(i * (columns + 2) + j)], -99);
        }
      }
    }
  }
}

TEST_F(Sinkhorn, GoesTheSameWayByEveryForm) {
  const WholeProblem whole = random_problem(20, 30, 4);
  const Limits limits{.tolerance = 0, .most_iterations = 6};
  const auto scaling = scaled<double, double>(whole, limits);
  EXPECT_EQ(scaling.outcome.status, Status::iteration_limit);
  ASSERT_EQ(scaling.outcome.iterations, 6);
  for (const InPlaceForm form : in_place_forms) {
    OwnRows<double> own(whole);
    const auto other = sinkhorn::scale_in_place<double, double>(context, own.view(), {own.r, whole.c}, form, limits);
    ASSERT_EQ(other.outcome.iterations, 6);
    for (std::size_t k = 0; k < 6; ++k) {
      EXPECT_NEAR(other.outcome.errors[k], scaling.outcome.errors[k], 1e-14);
    }
  }
}

template <class T>
Index filled_elements(const WholeProblem& whole) {
  const OwnRows<T> own(whole);
  return sinkhorn::FilledParts(own.const_view()).elements();
}

TEST_F(Sinkhorn, ReadsBlocksOfZerosOnlyOnce) {
  // Blocks along the diagonal, each wider than what is looked at together, and columns that are empty.
  constexpr Index rows = 24;
  constexpr Index columns = 1500;
  WholeProblem whole = random_problem(rows, columns, 78);
  for (Index i = 0; i < rows; ++i) {
    for (Index j = 0; j < columns; ++j) {
      if (j < i / 8 * 500 || j > i / 8 * 500 + 300) whole(i, j) = 0;
    }
  }
  whole.c.assign(columns, 0);
  for (Index j = 0; j < columns; ++j) {  // of some matrix with these zeros, so that there is support
    for (Index i = 0; i < rows; ++i) {
      if (whole(i, j) > 0) whole.c[static_cast<std::size_t>(j)] += 0.5 + 0.01 * static_cast<double>((i * j) % 7);
    }
  }
  whole.r.assign(rows, 0);
  for (Index i = 0; i < rows; ++i) {
    for (Index j = 0; j < columns; ++j) {
      if (whole(i, j) > 0) whole.r[static_cast<std::size_t>(i)] += 0.5 + 0.01 * static_cast<double>((i * j) % 7);
    }
  }
  EXPECT_TRUE(sinkhorn::FilledParts(OwnRows<double>(whole).const_view()).are_few());
  const std::vector<long double> reference = reference_plan(whole, 60);
  const auto expect_reference = [&]<class T, class A>(double tolerance, double accuracy) {
    const OwnRows<T> own(whole);
    const auto scaling = sinkhorn::scale<T, A>(context, own.const_view(), {own.r, whole.c}, {.tolerance = tolerance});
    EXPECT_EQ(scaling.outcome.status, Status::converged) << scaling.outcome.reason;
    for (Index i = 0; i < own.rows; ++i) {
      for (Index j = 0; j < columns; ++j) {
        const double entry = static_cast<double>(scaling.u[static_cast<std::size_t>(i)]) * whole(own.first + i, j) *
                             static_cast<double>(scaling.v[static_cast<std::size_t>(j)]);
        ASSERT_NEAR(entry, static_cast<double>(reference[static_cast<std::size_t>((own.first + i) * columns + j)]),
                    accuracy);
      }
    }
  };
  expect_reference.template operator()<double, double>(1e-13, 1e-10);
  expect_reference.template operator()<float, double>(1e-12, 1e-5);
  expect_reference.template operator()<float, float>(1e-5, 1e-3);
}

TEST_F(Sinkhorn, FindsWhereAMatrixIsFilled) {
  const WholeProblem full = random_problem(19, 700, 79);
  const Index all = OwnRows<double>(full).rows * 700;
  EXPECT_EQ(filled_elements<double>(full), all);
  EXPECT_EQ(filled_elements<simd::BFloat16>(full), all);
  WholeProblem none = full;
  none.entries.assign(none.entries.size(), -0.0);
  EXPECT_EQ(filled_elements<float>(none), 0);
  const WholeProblem empty{0, 5, {}, {}, {}};
  EXPECT_EQ(filled_elements<double>(empty), 0);
  // One entry anywhere is found, in the block that it belongs to.
  for (const Index column : {0, 9, 63, 64, 639, 640, 699}) {
    WholeProblem one = none;
    one(18, column) = 1e-300;
    const OwnRows<double> own(one);
    const Index rows = own.first + own.rows == 19 && own.rows > 0 ? (own.rows - 1) % 8 + 1 : 0;
    EXPECT_EQ(filled_elements<double>(one), rows * (column < 640 ? 64 : 60)) << column;
  }
}

TEST_F(Sinkhorn, ScalesToOnesWithoutMarginals) {
  const WholeProblem whole = random_problem(11, 11, 5);
  OwnRows<double> own(whole);
  const auto scaling = sinkhorn::scale<double, double>(context, own.const_view(), {}, {.tolerance = 1e-14});
  EXPECT_EQ(scaling.outcome.status, Status::converged);
  sinkhorn::plan_in_place<double, double>(own.view(), scaling.u, scaling.v);
  const auto checked = sinkhorn::checked_marginals(context, own.rows, own.columns, {});
  const auto errors = sinkhorn::marginal_sums<double>(context, own.view(), checked).errors(context);
  EXPECT_NEAR(errors.mass, 11, 1e-12);
  EXPECT_LE(errors.rows, 1e-14);
  EXPECT_LE(errors.columns, 2e-14);
  for (Index i = 0; i < own.rows; ++i) {
    double sum = 0;
    for (Index j = 0; j < 11; ++j) sum += own.view()(i, j);
    EXPECT_NEAR(sum, 1, 1e-13);
  }
}

TEST_F(Sinkhorn, OfASymmetricTwoByTwoMatrixIsKnownInClosedForm) {
  // [[4, 1], [1, 1]] scales to [[2/3, 1/3], [1/3, 2/3]].
  WholeProblem whole{2, 2, {4, 1, 1, 1}, {1, 1}, {1, 1}};
  OwnRows<double> own(whole);
  const auto scaling = sinkhorn::scale<double, double>(context, own.const_view(), {}, {.tolerance = 1e-15});
  sinkhorn::plan_in_place<double, double>(own.view(), scaling.u, scaling.v);
  for (Index i = 0; i < own.rows; ++i) {
    for (Index j = 0; j < 2; ++j) EXPECT_NEAR(own.view()(i, j), own.first + i == j ? 2.0 / 3 : 1.0 / 3, 1e-14);
  }
}

TEST_F(Sinkhorn, LeavesRowsAndColumnsWithoutMassEmpty) {
  WholeProblem whole = random_problem(12, 9, 6);
  for (const Index i : {0, 7}) whole.r[static_cast<std::size_t>(i)] = 0;
  whole.c[4] = 0;
  for (Index j = 0; j < 9; ++j) whole(7, j) = 0;  // one that is empty already
  double sum = 0;
  for (const double r : whole.r) sum += r;
  for (double& r : whole.r) r /= sum;
  sum = 0;
  for (const double c : whole.c) sum += c;
  for (double& c : whole.c) c /= sum;
  const std::vector<long double> reference = reference_plan(whole);
  const OwnRows<double> own(whole);
  const auto scaling = scaled<double, double>(whole, {.tolerance = 1e-14});
  EXPECT_EQ(scaling.outcome.status, Status::converged) << scaling.outcome.reason;
  EXPECT_EQ(scaling.v[4], 0);
  EXPECT_LE(distance_of_plan(own, scaling, reference), 1e-13);
}

TEST_F(Sinkhorn, OfNothingConvergesAtOnce) {
  for (const auto& [rows, columns] : {std::pair<Index, Index>{0, 0}, {0, 5}, {5, 0}}) {
    WholeProblem whole = random_problem(rows, columns, 7);
    std::ranges::fill(whole.r, 0);
    std::ranges::fill(whole.c, 0);
    const auto scaling = scaled<double, double>(whole);
    EXPECT_EQ(scaling.outcome.status, Status::converged) << scaling.outcome.reason;
    EXPECT_EQ(scaling.outcome.error, 0);
    EXPECT_EQ(static_cast<Index>(scaling.v.size()), columns);
  }
}

TEST_F(Sinkhorn, BeginsWhereItIsTold) {
  const WholeProblem whole = random_problem(30, 20, 8);
  const auto cold = scaled<double, double>(whole, {.tolerance = 1e-12});
  const OwnRows<double> own(whole);
  const auto warm =
      sinkhorn::scale<double, double>(context, own.const_view(), {own.r, whole.c}, {.tolerance = 1e-11}, cold.v);
  EXPECT_EQ(warm.outcome.iterations, 1);
  EXPECT_GT(cold.outcome.iterations, 4);
}

TEST_F(Sinkhorn, BeginsWithFactorsOfColumnsWithoutMassAsWell) {
  WholeProblem whole = random_problem(6, 3, 19);
  whole.c = {0.25, 0, 0.75};
  const auto cold = scaled<double, double>(whole, {.tolerance = 1e-12});
  ASSERT_EQ(cold.v[1], 0);
  const OwnRows<double> own(whole);
  const sinkhorn::Marginals marginals{own.r, whole.c};
  const auto warm = sinkhorn::scale<double, double>(context, own.const_view(), marginals, {.tolerance = 1e-11}, cold.v);
  EXPECT_EQ(warm.outcome.iterations, 1);
  const std::vector<double> wrong{1, 1, 0};
  EXPECT_THAT(message_of<ArgumentError>(
                  [&] { return sinkhorn::scale<double, double>(context, own.const_view(), marginals, {}, wrong); }),
              HasSubstr("the factor 0 for column 2, expected a finite one > 0"));
}

TEST_F(Sinkhorn, ProvesThatThereIsNoSupport) {
  // Three rows live in two columns, so no permutation lies in the entries.
  WholeProblem whole = random_problem(6, 6, 9);
  for (const Index i : {1, 2, 5}) {
    for (Index j = 2; j < 6; ++j) whole(i, j) = 0;
  }
  whole.r.assign(6, 1);
  whole.c.assign(6, 1);
  const auto scaling = scaled<double, double>(whole);
  EXPECT_EQ(scaling.outcome.status, Status::no_support);
  EXPECT_LT(scaling.outcome.iterations, 1000);
  EXPECT_THAT(scaling.outcome.reason,
              HasSubstr("3 of the rows must sum up to 3, and all their entries lie in 2 of the columns"));

  for (const InPlaceForm form : {InPlaceForm::fused, InPlaceForm::by_rows}) {
    OwnRows<double> own(whole);
    EXPECT_EQ((sinkhorn::scale_in_place<double, double>(context, own.view(), {}, form).outcome.status),
              Status::no_support);
  }
}

TEST_F(Sinkhorn, ProvesThatMarginalsAreInfeasible) {
  WholeProblem whole = random_problem(5, 4, 10);
  for (Index j = 1; j < 4; ++j) whole(3, j) = 0;
  whole.r = {0.1, 0.1, 0.1, 0.6, 0.1};
  whole.c = {0.4, 0.2, 0.2, 0.2};  // row 3 needs .6 of column 0
  const auto scaling = scaled<double, double>(whole);
  EXPECT_EQ(scaling.outcome.status, Status::infeasible_marginals);
  EXPECT_THAT(scaling.outcome.reason, HasSubstr("1 of the rows must sum up to 0.6"));
}

TEST_F(Sinkhorn, ProvesItInPlaceAlsoBesideRowsAndColumnsWithoutMass) {
  // Rows 0 and 1 live in column 0; what row 3 and column 3 have becomes 0, and is no number that got lost.
  const WholeProblem whole{4, 4, {1, 0, 0, 1, 1, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1, 1}, {1, 1, 1, 0}, {1, 1, 1, 0}};
  for (const InPlaceForm form : in_place_forms) {
    OwnRows<double> own(whole);
    const auto scaling = sinkhorn::scale_in_place<double, double>(context, own.view(), {own.r, whole.c}, form);
    EXPECT_EQ(scaling.outcome.status, Status::infeasible_marginals) << static_cast<int>(form);
  }
}

TEST_F(Sinkhorn, IsTightOnlyWhereEntriesHaveToVanishForTheSumsOfOthers) {
  const auto is_tight = [&](const WholeProblem& whole, const std::vector<double>& heights) {
    const OwnRows<double> own(whole);
    const auto checked = sinkhorn::checked_marginals(context, own.rows, whole.columns, {own.r, whole.c});
    const sinkhorn::RowHeights asked{&checked,
                                     std::span(heights).subspan(static_cast<std::size_t>(own.rows == 0 ? 0 : own.first),
                                                                static_cast<std::size_t>(own.rows))};
    const auto found =
        sinkhorn::feasibility<double>(context, own.const_view(), sinkhorn::Support::positive, {&asked, 1}).front();
    EXPECT_FALSE(found.is_infeasible);
    return found.is_tight;
  };
  EXPECT_TRUE(is_tight({2, 2, {1, 0, 1, 1}, {1, 1}, {1, 1}}, {2, 1}));
  // Two blocks, which share a column that is to be empty.
  EXPECT_FALSE(is_tight({2, 3, {1, 0, 1, 0, 1, 1}, {1, 1}, {1, 1, 0}}, {2, 1}));
  // Small sums are no rounding of large ones, neither of these rows nor of the others.
  EXPECT_FALSE(is_tight({2, 2, {1, 0, 1, 1}, {1e-10, 1 - 1e-10}, {5e-10, 1 - 5e-10}}, {2, 1}));
  EXPECT_FALSE(is_tight({2, 2, {1, 1, 0, 1}, {5e-10, 1 - 5e-10}, {1e-10, 1 - 1e-10}}, {1, 2}));
}

TEST_F(Sinkhorn, SaysThatItIsSlowWithoutTotalSupport) {
  WholeProblem whole{2, 2, {1, 1, 0, 1}, {1, 1}, {1, 1}};  // the upper right entry has to vanish
  const auto scaling =
      scaled<double, double>(whole, {.most_iterations = 500, .acceleration = sinkhorn::Acceleration::none});
  EXPECT_EQ(scaling.outcome.status, Status::iteration_limit);
  EXPECT_THAT(scaling.outcome.reason, HasSubstr("no total support"));
}

TEST_F(Sinkhorn, StopsWhereRoundingLeavesNothingToGain) {
  const WholeProblem whole = random_problem(40, 50, 11);
  const auto scaling = scaled<float, float>(whole, {.tolerance = 0});
  EXPECT_EQ(scaling.outcome.status, Status::numerical_limit);
  EXPECT_LT(scaling.outcome.iterations, 200);
  EXPECT_LT(scaling.outcome.error, 1e-5);
}

TEST_F(Sinkhorn, SaysThatNumbersLeftTheirRange) {
  WholeProblem whole = random_problem(4, 4, 12);
  for (double& entry : whole.entries) entry *= 1e-300;
  whole(0, 0) = 1e300;
  whole.r.assign(4, 1e20);
  whole.c.assign(4, 1e20);
  const auto scaling = scaled<double, double>(whole);
  EXPECT_EQ(scaling.outcome.status, Status::numerical_limit);
  EXPECT_THAT(scaling.outcome.reason, HasSubstr("left the range of double"));
}

TEST_F(Sinkhorn, HasTheSameFactorsOfColumnsAndErrorsOnAllRanks) {
  const auto scaling = scaled<double, double>(random_problem(19, 23, 13));
  std::vector<double> all = scaling.v;
  all.insert(all.end(), scaling.outcome.errors.begin(), scaling.outcome.errors.end());
  std::vector<double> of_rank_zero = all;
  MPI_Bcast(of_rank_zero.data(), static_cast<int>(of_rank_zero.size()), MPI_DOUBLE, 0, test_comm());
  EXPECT_EQ(all, of_rank_zero);
}

TEST_F(Sinkhorn, RefusesMoreColumnsThanCanBeNumbered) {
  constexpr Index most = std::numeric_limits<Index>::max();
  EXPECT_THAT(message_of<ArgumentError>([&] { return sinkhorn::checked_marginals(context, 0, most, {}); }),
              HasSubstr("and 9223372036854775807 columns, expected so few that memory"));
}

TEST(SinkhornOnNodes, FindsThePlanOfTheReferenceByMessagesBetweenThem) {
  if (ranks() < 2) return;
  const PretendedNodes nodes({1, ranks() - 1});
  mpi::Context context(test_comm());
  ASSERT_EQ(context.topology().nodes(), 2);
  expect_the_plan_of_the_reference<double, double>(context, random_problem(37, 300, 20), 1e-14, 1e-12);
  expect_the_plan_of_the_reference<double, double>(context, random_problem(3, 1, 21), 1e-14, 1e-12);
}

TEST_F(Sinkhorn, RefusesEntriesThatAreNoneOnAllRanks) {
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  constexpr double inf = std::numeric_limits<double>::infinity();
  for (const auto& [wrong, text] : {std::pair<double, const char*>{-3, "-3"}, {nan, "nan"}, {inf, "inf"}}) {
    WholeProblem whole = random_problem(9, 8, 14);
    whole(6, 5) = wrong;
    whole(7, 2) = wrong;
    EXPECT_THAT(message_of<ArgumentError>([&] { return scaled<double, double>(whole); }),
                HasSubstr(std::string("the entry in row 6, column 5 is ") + text + ", expected a finite number >= 0"));
  }
}

TEST_F(Sinkhorn, RefusesEmptyRowsAndColumnsThatAreToHaveMass) {
  WholeProblem rows = random_problem(9, 8, 15);
  for (Index j = 0; j < 8; ++j) rows(5, j) = 0;
  EXPECT_THAT(message_of<ArgumentError>([&] { return scaled<double, double>(rows); }),
              HasSubstr("row 5 has only zeros, but is to sum up to 0."));
  WholeProblem columns = random_problem(9, 8, 16);
  for (Index i = 0; i < 9; ++i) columns(i, 3) = 0;
  EXPECT_THAT(message_of<ArgumentError>([&] { return scaled<double, double>(columns); }),
              HasSubstr("column 3 has only zeros"));
}

TEST_F(Sinkhorn, RefusesMarginalsThatDoNotFit) {
  const WholeProblem whole = random_problem(9, 8, 17);
  const auto with = [&](const auto& change) {
    return [&, change] {
      WholeProblem changed = whole;
      change(changed);
      const OwnRows<double> own(changed);
      static_cast<void>(sinkhorn::scale<double, double>(context, own.const_view(), {own.r, changed.c}));
    };
  };
  EXPECT_THAT(message_of<ArgumentError>(with([](WholeProblem& p) { p.r[4] += 0.1; })),
              AllOf(HasSubstr("all rows sum up to 1.1"), HasSubstr("all columns to 1")));
  EXPECT_THAT(message_of<ArgumentError>(with([](WholeProblem& p) { p.r[8] = -1; })),
              HasSubstr("the marginal of row 8 is -1, expected a finite number >= 0"));
  EXPECT_THAT(message_of<ArgumentError>(with([](WholeProblem& p) { p.c.push_back(0); })),
              HasSubstr("marginals of 9 columns are given, expected 8"));
  EXPECT_THAT(message_of<ArgumentError>([&] {
                OwnRows<double> own(whole);
                if (rank() == 0) own.r.push_back(0);
                static_cast<void>(sinkhorn::scale<double, double>(context, own.const_view(), {own.r, whole.c}));
              }),
              HasSubstr("as many as the rank has"));
  EXPECT_THAT(message_of<ArgumentError>([&] { return scaled<double, double>(whole, {.tolerance = -1}); }),
              HasSubstr("the tolerance is -1, expected a number >= 0"));
  EXPECT_THAT(message_of<ArgumentError>([&] { return scaled<double, double>(whole, {.tolerance = std::nan("")}); }),
              HasSubstr("the tolerance is nan"));
}

TEST_F(Sinkhorn, HearsOfRanksThatBeginElsewhere) {
  if (ranks() == 1) return;
  const WholeProblem whole = random_problem(9, 8, 17);
  const OwnRows<double> own(whole);
  const auto entries = sparse<double>(whole);
  const std::vector<double> start(8, rank() == 1 ? 2.0 : 1.0);
  const std::span<const double> of_one = rank() == 1 ? std::span<const double>() : std::span(start);
  const auto is_told = HasSubstr("rank 1: digest of the start: is ");
  for (const std::span<const double> given : {std::span(start), of_one}) {
    EXPECT_THAT(
        message_of<ArgumentError>(([&] {
          static_cast<void>(sinkhorn::scale<double, double>(context, own.const_view(), {own.r, whole.c}, {}, given));
        })),
        is_told);
    EXPECT_THAT(message_of<ArgumentError>(([&] {
                  static_cast<void>(sinkhorn::scale<double, double>(context, entries, {own.r, whole.c}, {}, given));
                })),
                is_told);
    EXPECT_THAT(message_of<ArgumentError>(([&] {
                  static_cast<void>(sinkhorn::transport<double, double>(context, own.const_view(), {own.r, whole.c},
                                                                        {.epsilon = 0.1}, given));
                })),
                is_told);
  }
}

TEST_F(Sinkhorn, TakesSumsThatDifferByRoundingForTheSame) {
  WholeProblem whole = random_problem(9, 8, 18);
  for (double& c : whole.c) c *= 1 + 3e-7;
  const auto scaling = scaled<double, double>(whole, {.tolerance = 1e-12});
  EXPECT_EQ(scaling.outcome.status, Status::converged) << scaling.outcome.reason;
}

}  // namespace
}  // namespace plait::test
