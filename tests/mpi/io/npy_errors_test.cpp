// What goes wrong with .npy files, on one rank or on all: every rank throws the same, and no file is harmed.
#include <sys/resource.h>

#include <stdexcept>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "plait/io/npy/npy.hpp"
#include "plait/io/output_file.hpp"
#include "plait/io/slab.hpp"
#include "plait/mpi/agreed.hpp"

#include "mpi/io/naive_npy.hpp"
#include "mpi/io/shared_scratch.hpp"

namespace plait::io {
namespace {

using layout::DistributedMatrix;
using layout::Layout;
using layout::Shape;
using test::by_columns;
using test::by_rows;
using test::element;
using test::naive_npy;
using test::SharedScratch;
using test::text_thrown_alike;
using ::testing::AllOf;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::StartsWith;

TEST(NpyHeaderErrors, AreThrownOnEveryRank) {
  SharedScratch scratch;
  auto& context = scratch.context();
  const auto read = [&](const std::string& path) {
    return text_thrown_alike<FileError>(context, [&] { static_cast<void>(read_npy_header(context, path)); });
  };
  EXPECT_EQ(read(scratch / "missing"), (scratch / "missing") + ": can't be opened: No such file or directory");
  EXPECT_EQ(read(scratch / ""), (scratch / "") + ": is a directory; expected a regular file");
  scratch.write("empty", "");
  EXPECT_EQ(read(scratch / "empty"),
            (scratch / "empty") + ": is truncated: it has 0 bytes; expected at least 10 of header");
  scratch.write("text", "just some text");
  EXPECT_THAT(read(scratch / "text"), StartsWith((scratch / "text") + ": is no .npy file"));
}

TEST(NpyReadErrors, OfATruncatedFileAreThrownOnEveryRankWithTheSizes) {
  SharedScratch scratch;
  auto& context = scratch.context();
  const std::string whole = naive_npy<double>({40, 10}, by_rows);
  for (const std::size_t missing : {std::size_t{1}, std::size_t{8}, std::size_t{3200}}) {  // the last rank's, all of it
    scratch.write("m.npy", whole.substr(0, whole.size() - missing));
    const auto header = read_npy_header(context, scratch / "m.npy");
    const auto text = text_thrown_alike<FileError>(
        context, [&] { static_cast<void>(read_npy<double>(context, scratch / "m.npy", header)); });
    EXPECT_EQ(text, (scratch / "m.npy") + ": is truncated: it has " + std::to_string(whole.size() - missing) +
                        " bytes; expected " + std::to_string(whole.size()) + " for a header of " +
                        std::to_string(header.data_offset) + " and 40 x 10 elements of f64");
  }
}

TEST(NpyReadErrors, OfOneRankAreThrownOnEveryRank) {
  SharedScratch scratch;
  auto& context = scratch.context();
  scratch.write("m.npy", naive_npy<double>({40, 10}, by_rows));
  const auto header = read_npy_header(context, scratch / "m.npy");
  const bool last = context.rank() == context.size() - 1;
  // As if the last rank ran on a node without that file.
  const std::string path = scratch / (last ? "missing" : "m.npy");
  EXPECT_EQ(text_thrown_alike<FileError>(context, [&] { static_cast<void>(read_npy<double>(context, path, header)); }),
            (scratch / "missing") + ": can't be opened: No such file or directory");
}

TEST(NpyReadErrors, TellThatARankHasAnotherFileOfThatName) {
  SharedScratch scratch;
  auto& context = scratch.context();
  if (context.size() == 1) return;
  scratch.write("m.npy", naive_npy<double>({40, 10}, by_rows));
  scratch.write("longer.npy", naive_npy<double>({80, 10}, by_rows));
  scratch.write("columns.npy", naive_npy<double>({40, 10}, StorageOrder::column_major));
  scratch.write("big.npy", naive_npy<double>({40, 10}, by_rows, true));
  const auto header = read_npy_header(context, scratch / "m.npy");
  for (const std::string what :
       {"longer.npy: is 80 x 10 of f64 by rows (little", "columns.npy: is 40 x 10 of f64 by columns",
        "big.npy: is 40 x 10 of f64 by rows (big"}) {
    const std::string other = what.substr(0, what.find(':'));
    const std::string path = scratch / (context.rank() == context.size() - 1 ? other : "m.npy");
    EXPECT_THAT(
        text_thrown_alike<FileError>(context, [&] { static_cast<void>(read_npy<double>(context, path, header)); }),
        AllOf(HasSubstr(what), HasSubstr("another array on rank 0, 40 x 10 of f64 by rows (little")));
  }
}

TEST(NpyReadErrors, NameTheTypesThatDiffer) {
  SharedScratch scratch;
  auto& context = scratch.context();
  scratch.write("m.npy", naive_npy<double>({4, 4}, by_rows));
  const auto header = read_npy_header(context, scratch / "m.npy");
  const auto text = text_thrown_alike<ArgumentError>(
      context, [&] { static_cast<void>(read_npy<float>(context, scratch / "m.npy", header)); });
  EXPECT_EQ(text, "T is f32; the header says f64");
}

TEST(NpyWriteErrors, RefuseOtherLayoutsOnEveryRank) {
  SharedScratch scratch;
  auto& context = scratch.context();
  const Shape shape{6, 6};
  const auto refused = [&](const Layout& layout) {
    const DistributedMatrix<double> matrix(layout, context.rank());
    return text_thrown_alike<ArgumentError>(context, [&] { write_npy(context, scratch / "m.npy", matrix); });
  };
  const int ranks = context.size();
  if (ranks > 1) {  // for a single rank these are slabs
    EXPECT_THAT(refused(Layout::rows(shape, ranks, by_columns)), HasSubstr("expected rows@" + std::to_string(ranks)));
    EXPECT_THAT(refused(Layout::columns(shape, ranks, by_rows)), StartsWith("slab is distributed as "));
  }
  EXPECT_THAT(refused(Layout::rows(shape, ranks + 1, by_rows)), StartsWith("slab is distributed as "));
  EXPECT_THAT(refused(Layout::block_cyclic(shape, 1, 1, layout::Owners::grid(ranks, 1))),
              StartsWith("slab is distributed as "));
  EXPECT_EQ(scratch.names(), "");

  const DistributedMatrix<double> matrix(slab_layout(shape, by_rows, ranks), context.rank());
  const DistributedMatrix<double> of_another(slab_layout(shape, by_rows, ranks), (context.rank() + 1) % ranks);
  if (ranks == 1) return;
  EXPECT_EQ(text_thrown_alike<ArgumentError>(context, [&] { write_npy(context, scratch / "m.npy", of_another); }),
            "slab is that of rank 1 on rank 0");
}

class NpyWriteFailures : public ::testing::Test {
 protected:
  NpyWriteFailures()
      : context_(scratch_.context()), matrix_(slab_layout({60, 7}, by_columns, context_.size()), context_.rank()) {
    matrix_.for_each_element([](Index i, Index j, double& value) { value = element<double>(i, j); });
    scratch_.write("m.npy", "the old file");
  }

  // What `write` throws; the old file must be as it was, without anything beside it.
  template <class E>
  std::string failure(const std::function<void()>& write) {
    auto text = text_thrown_alike<E>(context_, write);
    EXPECT_EQ(scratch_.names(), "m.npy");
    EXPECT_EQ(test::read_file(scratch_ / "m.npy"), "the old file");
    return text;
  }

  [[nodiscard]] bool is_last() const { return context_.rank() == context_.size() - 1; }

  SharedScratch scratch_;
  mpi::Context& context_;
  DistributedMatrix<double> matrix_;
};

TEST_F(NpyWriteFailures, InTheMiddleOnOneRankLeaveTheOldFile) {
  const auto text = failure<Error>([&] {
    write_npy(context_, scratch_ / "m.npy", matrix_, [&](Index) {
      if (context_.rank() == context_.size() / 2) throw std::runtime_error("interrupted");
    });
  });
  EXPECT_EQ(text, "interrupted");
}

TEST_F(NpyWriteFailures, ByTheSizeLimitOfOneRankLeaveTheOldFile) {
  struct rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  const struct rlimit low{1000, before.rlim_max};
  if (is_last()) {
    ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &low), 0);
  }
  const auto text = failure<FileError>([&] { write_npy(context_, scratch_ / "m.npy", matrix_); });
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &before), 0);
  EXPECT_EQ(text, (scratch_ / "m.npy") +
                      ": needs 3488 bytes, but this process may write files of 1000 bytes only (ulimit -f)");
}

TEST_F(NpyWriteFailures, OfAFolderThatIsMissingAreThrownOnEveryRank) {
  const std::string path = scratch_ / "missing/m.npy";
  EXPECT_THAT(failure<FileError>([&] { write_npy(context_, path, matrix_); }),
              AllOf(StartsWith(path + ": can't be written into the folder "), EndsWith("No such file or directory")));
}

TEST_F(NpyWriteFailures, OntoAFolderAreThrownOnEveryRank) {
  EXPECT_EQ(failure<FileError>([&] { write_npy(context_, scratch_ / "", matrix_); }),
            (scratch_ / "") + ": is a directory; expected the name of a file");
}

TEST_F(NpyWriteFailures, AfterAnotherRankJoinedLeaveTheOldFile) {
  const auto text = failure<FileError>([&] {
    OutputFile file(context_, scratch_ / "m.npy", 100);
    mpi::agreed(context_, [&] {
      file.write_at(context_.rank(), std::as_bytes(std::span("x", 1)));
      if (is_last()) throw FileError("given up");
    });
    file.commit();
  });
  EXPECT_EQ(text, "given up");
}

TEST(OutputFile, HoldsWhatAllRanksWrote) {
  SharedScratch scratch;
  auto& context = scratch.context();
  const std::string own(5, static_cast<char>('a' + context.rank()));
  {
    OutputFile file(context, scratch / "out", 5 * context.size());
    mpi::agreed(context, [&] { file.write_at(5 * context.rank(), std::as_bytes(std::span(own))); });
    EXPECT_NE(scratch.names(), "out");
    file.commit();
  }
  EXPECT_EQ(scratch.names(), "out");
  std::string expected;
  for (int rank = 0; rank < context.size(); ++rank) expected += std::string(5, static_cast<char>('a' + rank));
  EXPECT_EQ(test::read_file(scratch / "out"), expected);
}

}  // namespace
}  // namespace plait::io
