// A build without HDF5 says so.
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "plait/io/file_kind.hpp"
#include "plait/io/matrix_output.hpp"

#include "mpi/io/shared_scratch.hpp"

namespace plait::io {
namespace {

TEST(NoHdf5, IsToldOnEveryRankOfFilesReadAndWritten) {
  test::SharedScratch scratch;
  auto& context = scratch.context();
  scratch.write("M", "\x89HDF\r\n\x1a\nand more");
  const auto expect_told = [&](const std::function<void()>& f) {
    EXPECT_THAT(test::text_thrown_alike<FileError>(context, f),
                ::testing::HasSubstr(": is for HDF5, and this plait was built without it"));
  };
  expect_told([&] { static_cast<void>(describe_matrix_file(context, scratch / "M")); });
  expect_told([&] { expect_writable_matrix(context, scratch / "A.h5"); });
}

}  // namespace
}  // namespace plait::io
