// A rank that has no memory left for what reading or writing a file needs tells the others.
#include "support/allocation_failures.hpp"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "plait/io/file_kind.hpp"
#include "plait/io/hdf5/hdf5.hpp"
#include "plait/io/matrix_market/matrix_market.hpp"
#include "plait/io/matrix_output.hpp"
#include "plait/io/npy/npy.hpp"
#include "plait/io/slab.hpp"
#include "plait/layout/sparse_rows.hpp"

#include "mpi/io/shared_scratch.hpp"

namespace plait::io {
namespace {

using test::expect_one_end_on_all_ranks;
using test::SharedScratch;

constexpr layout::Shape shape{7, 5};

void expect_one_end_of_writing_and_reading(SharedScratch& scratch, const std::string& name) {
  auto& context = scratch.context();
  const std::string path = scratch / name;
  layout::DistributedMatrix<double> slab(slab_layout(shape, StorageOrder::row_major, context.size()), context.rank());
  slab.for_each_element([](Index i, Index j, double& value) { value = static_cast<double>(10 * i + j); });
  expect_one_end_on_all_ranks([&] { write_matrix_file(context, path, slab); });
  expect_one_end_on_all_ranks([&] {
    const auto file = describe_matrix_file(context, path);
    auto read = read_matrix_file<double>(context, path, file);
    read.for_each_element(
        [](Index i, Index j, const double& value) { EXPECT_EQ(value, static_cast<double>(10 * i + j)); });
  });
}

TEST(IoAllocationFailures, EndWritingAndReadingAnArrayOfNumPysOnAllRanks) {
  SharedScratch scratch;
  expect_one_end_of_writing_and_reading(scratch, "with a name that is too long for a string without memory.npy");
}

TEST(IoAllocationFailures, EndWritingAndReadingAnHdf5FileOnAllRanks) {
  if (hdf5_version().empty()) return;
  SharedScratch scratch;
  expect_one_end_of_writing_and_reading(scratch, "M.h5:/with a name/that is too long/for a string without memory");
}

TEST(IoAllocationFailures, EndWritingAndReadingAMatrixMarketFileOnAllRanks) {
  SharedScratch scratch;
  auto& context = scratch.context();
  const std::string path = scratch / "with a name that is too long for a string without memory.mtx";
  const auto own_rows = slab_layout(shape, StorageOrder::row_major, context.size()).rows().local_extent(context.rank());
  layout::SparseRows<double> rows;
  rows.shape = shape;
  rows.first_row =
      elements_before(slab_layout(shape, StorageOrder::row_major, context.size()), context.rank()) / shape.columns;
  rows.starts = {0};
  for (Index i = 0; i < own_rows; ++i) {
    rows.columns.push_back(static_cast<std::uint32_t>((rows.first_row + i) % shape.columns));
    rows.values.push_back(1);
    rows.starts.push_back(i + 1);
  }
  expect_one_end_on_all_ranks([&] { write_matrix_market(context, path, rows, MatrixMarketSymmetry::general); });
  expect_one_end_on_all_ranks([&] {
    const auto file = describe_matrix_file(context, path);
    auto read = read_matrix_file<double>(context, path, file);
    read.for_each_element([](Index i, Index j, const double& value) { EXPECT_EQ(value, i % 5 == j ? 1 : 0); });
  });
  expect_one_end_on_all_ranks([&] {
    const auto read = read_matrix_market_rows<double>(context, path, read_matrix_market_header(context, path));
    EXPECT_EQ(read.rows(), own_rows);
  });
}

TEST(IoAllocationFailures, EndWritingRowsOfAnArrayOnAllRanks) {
  SharedScratch scratch;
  auto& context = scratch.context();
  const std::string path = scratch / "with a name that is too long for a string without memory.npy";
  const std::vector<double> one{1};
  expect_one_end_on_all_ranks([&] {
    NpyRows<double> rows(context, path, {context.size(), 1});
    rows.write(context.rank(), one);
    rows.commit();
  });
}

}  // namespace
}  // namespace plait::io
