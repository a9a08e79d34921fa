// What callers of a multiplication are told, and how a memory limit is kept.

#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "plait/base/error.hpp"
#include "plait/dense/multiplication.hpp"
#include "plait/layout/distributed_matrix.hpp"

#include "support/message_of.hpp"
#include "support/ranks.hpp"

namespace plait::test {
namespace {

using dense::Method;
using dense::Multiplication;
using layout::DistributedMatrix;
using layout::Layout;
using redistribute::Op;
using ::testing::AllOf;
using ::testing::HasSubstr;

struct MultiplicationErrors : ::testing::Test {
  mpi::Context context{test_comm()};
  Layout tall = Layout::rows({30, 20}, ranks());
  Layout square = Layout::rows({30, 30}, ranks());
};

TEST_F(MultiplicationErrors, FactorsThatDoNotFitAreNamed) {
  EXPECT_THAT(message_of<ShapeMismatch>([&] { Multiplication<double>(context, {tall, tall}, square); }),
              AllOf(HasSubstr("op(A) is 30 x 20"), HasSubstr("op(B) is 30 x 20")));
}

TEST_F(MultiplicationErrors, RanksThatGiveDifferentScalarsAllHearOfIt) {
  if (ranks() == 1) return;
  Multiplication<double> product(context, {square, square}, square);
  DistributedMatrix<double> a(square, rank());
  DistributedMatrix<double> c(square, rank());
  a.for_each_element([](Index, Index, double& value) { value = 1; });
  c.for_each_element([](Index, Index, double& value) { value = 1; });
  EXPECT_THAT(message_of<ArgumentError>([&] { product.execute(rank() == 1 ? 2 : 1, a, a, 0, c); }),
              HasSubstr("rank 1: alpha: is 2, but 1 on rank 0"));
  EXPECT_THAT(message_of<ArgumentError>([&] { product.execute(0, a, a, rank() == 1 ? 2 : 1, c); }),
              HasSubstr("rank 1: beta: is 2, but 1 on rank 0"));
  product.execute(1, a, a, 0, c);
  c.for_each_element([](Index, Index, double& value) { EXPECT_EQ(value, 30); });
}

TEST_F(MultiplicationErrors, RanksThatPlanDifferentProductsAllHearOfIt) {
  if (ranks() == 1) return;
  const Layout columns = Layout::columns({30, 30}, ranks());
  const bool other = rank() == 1;
  EXPECT_THAT(
      message_of<ArgumentError>([&] { Multiplication<double>(context, {square, square}, other ? columns : square); }),
      HasSubstr("rank 1: layout of C"));
  EXPECT_THAT(
      message_of<ArgumentError>([&] { Multiplication<double>(context, {square, other ? columns : square}, square); }),
      HasSubstr("rank 1: layout of B"));
  EXPECT_THAT(message_of<ArgumentError>([&] {
                Multiplication<double>(context, {square, square, other ? Op::transpose : Op::identity}, square);
              }),
              HasSubstr("rank 1: op of A"));
  EXPECT_THAT(message_of<ArgumentError>(
                  [&] { Multiplication<double>(context, {square, square}, square, {.panel_terms = other ? 8 : 16}); }),
              HasSubstr("rank 1: panel_terms: is 8, but 16 on rank 0"));
}

TEST_F(MultiplicationErrors, AProductThatDoesNotFitIsNamed) {
  EXPECT_THAT(message_of<ShapeMismatch>([&] { Multiplication<double>(context, {tall, tall, Op::transpose}, square); }),
              AllOf(HasSubstr("20 x 20"), HasSubstr("C is 30 x 30")));
}

TEST_F(MultiplicationErrors, LayoutsOnTooManyRanksAreNamed) {
  const Layout wide = Layout::rows({30, 30}, ranks() + 1);
  EXPECT_THAT(message_of<LayoutError>([&] { Multiplication<double>(context, {square, wide}, square); }),
              HasSubstr("B: needs " + std::to_string(ranks() + 1) + " ranks"));
}

TEST_F(MultiplicationErrors, MeshesThatCanNotBeAreRefused) {
  EXPECT_THAT(message_of<ArgumentError>(
                  [&] { Multiplication<double>(context, {square, square}, square, {.mesh = {ranks() + 1, 1, 1}}); }),
              HasSubstr("mesh: 1 layers of " + std::to_string(ranks() + 1)));
  if (ranks() < 2) return;
  EXPECT_THAT(message_of<ArgumentError>([&] {
                Multiplication<double>(context, {square, square}, square,
                                       {.method = Method::cannon, .mesh = {2, 1, 1}});
              }),
              AllOf(HasSubstr("mesh: 2 x 1"), HasSubstr("Cannon")));
}

TEST_F(MultiplicationErrors, TilesOfAnotherShapeAreRefusedOnAllRanks) {
  Multiplication<double> product(context, {square, square}, square);
  const DistributedMatrix<double> a(square, rank());
  DistributedMatrix<double> c(square, rank());
  const std::vector<matrix_view<double>> none;
  const auto tiles = rank() == 0 ? std::span<const matrix_view<double>>(none) : c.tiles();
  EXPECT_THROW(product.execute(1, a.const_tiles(), a.const_tiles(), 0, tiles), ShapeMismatch);
  DistributedMatrix<double> other(tall, rank());
  EXPECT_THAT(
      message_of<LayoutError>([&] { product.execute(1, a, a, 0, other); }),
      AllOf(HasSubstr("C: is in the layout"), HasSubstr("30 x 20"), HasSubstr("expected"), HasSubstr("30 x 30")));
}

TEST_F(MultiplicationErrors, WhereTheRanksHaveAgreedTheyDoNotTalkAboutFailures) {
  Multiplication<double> product(context, {square, square}, square);
  DistributedMatrix<double> c(square, rank());
  const std::vector<matrix_view<double>> none;
  const auto scale = [&](auto tiles) {
    product.execute(0, c.const_tiles(), c.const_tiles(), 2, tiles, dense::Agreement::reached);
  };
  if (!product.in_place().c) return;  // else its ranks move it, and wait for each other
  if (rank() == 0) {
    EXPECT_THROW(scale(std::span<const matrix_view<double>>(none)), ShapeMismatch);
  } else {
    EXPECT_NO_THROW(scale(c.tiles()));
  }
}

TEST_F(MultiplicationErrors, AMemoryLimitIsKeptOrToldHowMuchIsNeeded) {
  const Layout large = Layout::rows({300, 300}, ranks());
  const auto choice = [&](Index limit) {
    return Multiplication<double>(context, {large, large}, large, {.memory_limit = limit}).choice();
  };
  std::string text;
  try {
    choice(1000);
  } catch (const ArgumentError& error) {
    text = error.what();
  }
  EXPECT_THAT(text, HasSubstr("memory_limit: 1000 bytes"));
  const auto needs = text.find("needs ");
  ASSERT_NE(needs, std::string::npos) << text;
  const Index needed = std::stoll(text.substr(needs + 6));
  EXPECT_LE(choice(needed).workspace_bytes, needed);
  EXPECT_THROW(choice(needed * 3 / 4), ArgumentError);
}

}  // namespace
}  // namespace plait::test
