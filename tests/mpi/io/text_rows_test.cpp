#include "plait/io/text/text_rows.hpp"

#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "plait/io/file_kind.hpp"
#include "plait/io/slab.hpp"
#include "plait/mpi/collectives.hpp"

#include "mpi/io/shared_scratch.hpp"

namespace plait::io {
namespace {

using test::SharedScratch;
using test::text_thrown_alike;
using ::testing::HasSubstr;

/// All elements by rows, on every rank, of what the file holds.
std::vector<double> all_of(mpi::Context& context, const layout::DistributedMatrix<double>& matrix) {
  const layout::Shape shape = matrix.layout().shape();
  EXPECT_EQ(matrix.layout(), slab_layout(shape, StorageOrder::row_major, context.size()));
  std::vector<double> all(static_cast<std::size_t>(shape.rows * shape.columns));
  matrix.for_each_element(
      [&](Index i, Index j, const double& x) { all[static_cast<std::size_t>(i * shape.columns + j)] = x; });
  mpi::all_reduce(context.comm(), std::span<double>(all), mpi::Operation::sum());
  return all;
}

struct Read {
  layout::Shape shape;
  std::vector<double> numbers;
};
Read read(SharedScratch& scratch, const std::string& name, const std::string& text) {
  scratch.write(name, text);
  const auto file = describe_matrix_file(scratch.context(), scratch / name);
  EXPECT_EQ(file.dtype, DType::f64);
  return {file.shape, all_of(scratch.context(), read_matrix_file<double>(scratch.context(), scratch / name, file))};
}

TEST(TextRows, OfNumbersWithAnySeparatorAreAMatrix) {
  SharedScratch scratch;
  const std::vector<double> numbers{1, 2.5, -3, 4e2, 5, 6};
  for (const std::string text :
       {"1,2.5,-3\n4e2,5,6\n", "1;2.5;-3\n4e2;5;6", "1\t2.5\t-3\n4e2\t5\t6\n", " 1 2.5  -3 \n4e2 5 6\n\n",
        "a,b,c\n1,2.5,-3\n4e2,5,6\n", "\"a b\",\"b\",\"c\"\r\n1, 2.5 ,-3\r\n+4e2,5,6\r\n",
        "# from somewhere\n\nx;y;z\n# more\n1;2.5;-3\n\n4e2;5;6\n",
        "\xef\xbb\xbf"
        "1,2.5,-3\n4e2,5,6\n"}) {
    const auto [shape, found] = read(scratch, "x.csv", text);
    EXPECT_EQ(shape, (layout::Shape{2, 3})) << text;
    EXPECT_EQ(found, numbers) << text;
  }
  const auto [shape, found] = read(scratch, "x.csv", "nan,inf\n-inf,1\n");
  EXPECT_TRUE(std::isnan(found[0]) && std::isinf(found[1]) && std::isinf(found[2]));
  EXPECT_EQ(read(scratch, "x.csv", "7").numbers, std::vector{7.0});
}

TEST(TextRows, OfManyLinesOfAllLengthsAreSharedOutAmongTheRanks) {
  SharedScratch scratch;
  for (const Index rows : {1, 2, 4, 5, 97, 1000}) {
    std::string text = "first,second\n";
    std::string sparse;
    std::vector<double> numbers, labels;
    for (Index i = 0; i < rows; ++i) {
      if (i % 7 == 3) text += "\n# a comment, and an empty line\n";
      const double x = i % 10 == 0 ? std::ldexp(1.0 + static_cast<double>(i), -300) : static_cast<double>(i);
      text += fmt::format("{},{}\n", x, -i);
      sparse +=
          fmt::format("{} {}# a comment: 3:4\n", i % 3 - 1, i % 2 == 0 ? fmt::format("1:{} 2:{} ", x, -i) : "2:8 ");
      numbers.insert(numbers.end(), {x, static_cast<double>(-i)});
      labels.push_back(static_cast<double>(i % 3 - 1));
    }
    EXPECT_EQ(read(scratch, "x.csv", text).numbers, numbers);
    for (std::size_t i = 1; i < labels.size(); i += 2) {
      numbers[2 * i] = 0;
      numbers[2 * i + 1] = 8;
    }
    EXPECT_EQ(read(scratch, "x.svm", sparse).numbers, numbers);
    const auto file = labels_of(describe_matrix_file(scratch.context(), scratch / "x.svm"));
    EXPECT_EQ(all_of(scratch.context(), read_matrix_file<double>(scratch.context(), scratch / "x.svm", file)), labels);
  }
}

TEST(TextRows, OfLibsvmCountColumnsFromOneUnlessThereIsAZero) {
  SharedScratch scratch;
  const auto from_one = read(scratch, "x.libsvm", "+1 1:2 3:4\n-1\n");
  EXPECT_EQ(from_one.shape, (layout::Shape{2, 3}));
  EXPECT_EQ(from_one.numbers, (std::vector<double>{2, 0, 4, 0, 0, 0}));
  const auto from_zero = read(scratch, "x.svm", "1 1:2 3:4\n0 0:5\n");
  EXPECT_EQ(from_zero.shape, (layout::Shape{2, 4}));
  EXPECT_EQ(from_zero.numbers, (std::vector<double>{0, 2, 0, 4, 5, 0, 0, 0}));
}

TEST(TextRows, OfLibsvmTakeTheColumnsOfAnotherFile) {
  SharedScratch scratch;
  scratch.write("many.svm", "1 1:2 4:4\n");
  scratch.write("few.svm", "1 2:5\n");
  scratch.write("zero.svm", "1 0:5\n");
  const auto described = [&](const char* name) { return describe_matrix_file(scratch.context(), scratch / name); };
  const auto many = described("many.svm");
  const auto few = with_columns_of("many", many, "few", described("few.svm"));
  EXPECT_EQ(few.shape, (layout::Shape{1, 4}));
  EXPECT_EQ(all_of(scratch.context(), read_matrix_file<double>(scratch.context(), scratch / "few.svm", few)),
            (std::vector<double>{0, 5, 0, 0}));
  EXPECT_EQ(with_columns_of("few", described("few.svm"), "many", many).shape, many.shape);
  EXPECT_EQ(shape_text(few), "1 x 4 with columns counted from 1");
  EXPECT_EQ(shape_text(labels_of(few)), "1 x 1");

  scratch.write("from_zero.svm", "1 0:5 4:1\n");
  const auto zero = described("from_zero.svm");
  const auto sparse = with_columns_of("zero", zero, "many", many);
  EXPECT_EQ(shape_text(sparse), "1 x 5 with columns counted from 0");
  EXPECT_EQ(all_of(scratch.context(), read_matrix_file<double>(scratch.context(), scratch / "many.svm", sparse)),
            (std::vector<double>{0, 2, 0, 0, 4}));
  const auto refused = [&](const char* other, const char* name) {
    return text_thrown_alike<ArgumentError>(
        scratch.context(), [&] { static_cast<void>(with_columns_of(other, described(other), name, described(name))); });
  };
  const std::string rest =
      ", so that one seems to count from 0 and the other from 1; expected both to count alike (if both count from 0, "
      "add 0:0 to a row of ";
  EXPECT_EQ(refused("many.svm", "zero.svm"),
            "zero.svm has columns from 0 to 0, many.svm from 1 to 4" + rest + "many.svm)");
  EXPECT_EQ(refused("zero.svm", "few.svm"),
            "few.svm has columns from 1 to 2, zero.svm from 0 to 0" + rest + "few.svm)");
}

TEST(TextRows, ThatAreMalformedAreRefusedWithLineAndColumn) {
  SharedScratch scratch;
  const std::vector<std::array<std::string, 3>> files{
      {"x.csv", "", "x.csv: has no rows"},
      {"x.csv", "a,b\n", "x.csv: has no rows"},
      {"x.csv", "# 1,2\n1,2\n3,4\n5,x\n", "x.csv:4: column 2: expected a number, found \"x\""},
      {"x.csv", "1,2\n3,\n", "x.csv:2: column 2: expected a number, found nothing"},
      {"x.csv", "a,2\n3,4\n", "x.csv:1: column 1: expected a number, found \"a\""},
      {"x.csv", "1,2\n3,4 5\n", "x.csv:2: column 2: expected one number, found \"5\""},
      {"x.csv", "a,b\n1,2\n\n3,4,5\n", "x.csv:4: has 3 numbers, expected 2"},
      {"x.csv", "1,2\n3\n", "x.csv:2: has 1 number, expected 2"},
      {"x.csv", "1,2\n3,1e999\n", "x.csv:2: column 2: expected a number that a double can hold"},
      {"x.svm", "1 1:2\n\n0 2:x\n", "x.svm:3: expected a number, found \"x\""},
      {"x.svm", "1 1:2\n0 2:3 2:4\n", "x.svm:2: column 2 follows column 2, expected ascending ones"},
      {"x.svm", "1 3:2 2:1\n", "x.svm:1: column 2 follows column 3"},
      {"x.svm", "1 qid:3 2:1\n", "x.svm:1: expected COLUMN:VALUE, with a column below 2^31, found \"qid:3\""},
      {"x.svm", "1 -1:3\n", "x.svm:1: expected COLUMN:VALUE"},
      {"x.svm", "1 1:3 4\n", "x.svm:1: expected COLUMN:VALUE"},
      {"x.csv", "1,2\n3,\xf0\x9f\x1b[1m\n", "x.csv:2: column 2: expected a number, found \"<F0><9F><1B>[1m\""},
      {"x.csv", std::string("1,2\n3,4\0 5\n", 11), "x.csv:2: column 2: expected a number, found \"4<00>\""},
      {"x.csv",
       std::string("\xff\xfe"
                   "1\0,\0",
                   6),
       "x.csv: is text in UTF-16, expected ASCII or UTF-8"},
      {"x.svm", "one 1:3\n", "x.svm:1: expected a number, found \"one\""},
  };
  for (const auto& [name, text, words] : files) {
    scratch.write(name, text);
    EXPECT_THAT(text_thrown_alike<FileError>(
                    scratch.context(),
                    [&, name = name] {
                      const auto file = describe_matrix_file(scratch.context(), scratch / name);
                      static_cast<void>(read_matrix_file<double>(scratch.context(), scratch / name, file));
                    }),
                HasSubstr(words))
        << text;
  }
}

}  // namespace
}  // namespace plait::io
