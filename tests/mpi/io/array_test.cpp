// Arrays of one to three dimensions: read as the matrices that lie as they do, written with their own extents.
#include <cstring>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "plait/io/file_kind.hpp"
#include "plait/io/matrix_output.hpp"
#include "plait/io/slab.hpp"
#include "plait/io/vtk.hpp"

#include "mpi/io/shared_scratch.hpp"

namespace plait::io {
namespace {

using layout::DistributedMatrix;
using test::by_rows;
using test::SharedScratch;
using test::text_thrown_alike;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::StartsWith;

const std::vector<Extents> cases{{1, {7}}, {1, {0}}, {2, {4, 3}}, {3, {4, 3, 5}}, {3, {1, 6, 2}}, {3, {9, 1, 1}}};

// Numbers from 0 on, as they lie in memory.
DistributedMatrix<double> counted(mpi::Context& context, const Extents& extents, StorageOrder order) {
  const auto shape = extents.as_matrix(order);
  DistributedMatrix<double> matrix(slab_layout(shape, order, context.size()), context.rank());
  matrix.for_each_element([&](Index i, Index j, double& value) {
    value = static_cast<double>(order == by_rows ? i * shape.columns + j : j * shape.rows + i);
  });
  return matrix;
}

TEST(Array, IsReadAsItWasWrittenWithAnyNumberOfDimensions) {
  SharedScratch scratch;
  auto& context = scratch.context();
  for (const Extents& extents : cases) {
    for (const std::string name : {"a.npy", "a.h5"}) {
      for (const auto order : {by_rows, StorageOrder::column_major}) {
        if (name == "a.h5" && (order != by_rows || hdf5_version().empty())) continue;
        const auto written = counted(context, extents, extents.dimensions == 1 ? by_rows : order);
        write_matrix_file(context, scratch / name, extents, written);
        const auto file = describe_file(context, scratch / name, arrays);
        EXPECT_EQ(file.extents, extents);
        EXPECT_EQ(file.shape, extents.as_matrix(file.order));
        const auto read = read_matrix_file<double>(context, scratch / name, file);
        ASSERT_EQ(read.layout(), written.layout());
        read.for_each_element([&](Index i, Index j, const double& value) {
          EXPECT_EQ(value, file.order == by_rows ? i * file.shape.columns + j : j * file.shape.rows + i);
        });
        mpi::barrier(context.comm());
      }
    }
  }
}

TEST(Array, IsWrittenToNpyByteForByteAsNumpyDoes) {
  SharedScratch scratch;
  auto& context = scratch.context();
  for (const auto& [extents, shape] :
       {std::pair{Extents{1, {3}}, std::string("(3,)")}, {Extents{3, {2, 1, 3}}, "(2, 1, 3)"}}) {
    write_matrix_file(context, scratch / "a.npy", extents, counted(context, extents, by_rows));
    const std::string text = test::read_file(scratch / "a.npy");
    const std::string dictionary = "{'descr': '<f8', 'fortran_order': False, 'shape': " + shape + ", }";
    EXPECT_EQ(text.substr(0, 128), std::string("\x93NUMPY\x01\x00v\x00", 10) + dictionary +
                                       std::string(117 - dictionary.size(), ' ') + "\n");
    mpi::barrier(context.comm());
  }
}

TEST(Array, OfOtherDimensionsIsRefusedOnAllRanks) {
  SharedScratch scratch;
  auto& context = scratch.context();
  const Extents cube{3, {2, 2, 2}};
  write_matrix_file(context, scratch / "a.npy", cube, counted(context, cube, by_rows));
  EXPECT_THAT(text_thrown_alike<FileError>(
                  context, [&] { static_cast<void>(describe_matrix_file(context, scratch / "a.npy")); }),
              HasSubstr("has 3 dimensions; a matrix has 2"));
  EXPECT_THAT(
      text_thrown_alike<ArgumentError>(
          context,
          [&] { write_matrix_file(context, scratch / "a.npy", {3, {2, 2, 3}}, counted(context, cube, by_rows)); }),
      StartsWith("extents are 2 x 2 x 3; expected those of an array that lies as 2 x 4"));
}

TEST(Vti, HasItsDataRawAfterTheExtentsOfItsCellsOrPoints) {
  SharedScratch scratch;
  auto& context = scratch.context();
  const Extents extents{2, {2, 3}};
  for (const bool has_cells : {true, false}) {
    write_vti(context, scratch / "u.vti", counted(context, extents, by_rows), {extents, {0.5, 0.25}, {1, 2}, has_cells},
              "u");
    const std::string text = test::read_file(scratch / "u.vti");
    EXPECT_THAT(text, HasSubstr(has_cells ? R"(WholeExtent="0 3 0 2 0 1" Origin="2 1 0" Spacing="0.25 0.5 1")"
                                          : R"(WholeExtent="0 2 0 1 0 0" Origin="2 1 0" Spacing="0.25 0.5 1")"));
    EXPECT_THAT(text, HasSubstr(has_cells ? "<CellData Scalars=\"u\">" : "<PointData Scalars=\"u\">"));
    const auto data = text.find('_', text.find("<AppendedData")) + 1;
    std::uint64_t bytes = 0;
    std::memcpy(&bytes, text.data() + data, sizeof bytes);
    ASSERT_EQ(bytes, 6 * sizeof(double));
    for (std::size_t i = 0; i < 6; ++i) {
      double value = 0;
      std::memcpy(&value, text.data() + data + 8 + 8 * i, sizeof value);
      EXPECT_EQ(value, static_cast<double>(i));
    }
    EXPECT_THAT(text, EndsWith("</VTKFile>\n"));
    mpi::barrier(context.comm());
  }
}

}  // namespace
}  // namespace plait::io
