#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "plait/base/error.hpp"

#include "cli/host/layouts.hpp"
#include "support/message_of.hpp"

namespace plait::cli {
namespace {

layout::LayoutSpec spec(const std::string& options = "") {
  return layout::LayoutSpec::parse("custom:f.json" + options);
}

constexpr const char* two_by_one = R"({"row_splits": [0, 4, 10], "column_splits": [0, 8], "owners": [[1], [0]]})";

TEST(CustomLayout, splits_and_owners_make_a_layout) {
  EXPECT_EQ(parse_custom_layout(two_by_one, spec(), {10, 8}), layout::Layout::custom({0, 4, 10}, {0, 8}, {1, 0}));
}

TEST(CustomLayout, tiles_are_stored_by_rows_where_the_file_or_the_option_says_so) {
  constexpr const char* by_rows =
      R"({"row_splits": [0, 10], "column_splits": [0, 8], "owners": [[0]], "storage": "row"})";
  EXPECT_EQ(parse_custom_layout(by_rows, spec(), {10, 8}).storage(), StorageOrder::row_major);
  EXPECT_EQ(parse_custom_layout(two_by_one, spec(",storage=row"), {10, 8}).storage(), StorageOrder::row_major);
  EXPECT_EQ(parse_custom_layout(two_by_one, spec(), {10, 8}).storage(), StorageOrder::column_major);
  EXPECT_EQ(parse_custom_layout(by_rows, spec(",storage=col"), {10, 8}).storage(), StorageOrder::column_major);
}

TEST(CustomLayout, a_matrix_may_be_a_part_of_what_the_file_describes) {
  const auto whole = layout::Layout::custom({0, 4, 10}, {0, 8}, {1, 0});
  EXPECT_EQ(parse_custom_layout(two_by_one, spec(",within=10x8,at=3,1"), {2, 5}), whole.submatrix(3, 1, {2, 5}));
}

struct Malformed {
  const char* json;
  const char* complaint;
};

TEST(CustomLayout, every_mistake_is_told_with_the_name_of_the_file) {
  for (const auto& [json, complaint] : {
           Malformed{"", "f.json: parse error at line 1, column 1"},
           {"{\"row_splits\": [0,4\n", "f.json: parse error at line 2"},
           {"[1]", "f.json: is array, expected an object"},
           {R"({"row_splits": [0,10], "column_splits": [0,8]})", "has no owners"},
           {R"({"row_splits": [0,10], "owners": [[0]]})", "has no column_splits"},
           {R"({"rows": [0,10]})", "has the key \"rows\""},
           {R"({"row_splits": [0,9], "row_splits": [0,10]})", "has the key \"row_splits\" twice"},
           {R"({"row_splits": [0,10], "column_splits": [0,8], "owners": [[[[]]]]})", "owners holds an array of 1"},
           {R"({"row_splits": 10, "column_splits": [0,8], "owners": [[0]]})", "row_splits is 10, expected an array"},
           {R"({"row_splits": [0,10.5], "column_splits": [0,8], "owners": [[0]]})", "row_splits holds 10.5"},
           {R"({"row_splits": [0,-1], "column_splits": [0,8], "owners": [[0]]})", "row_splits holds -1"},
           {R"({"row_splits": [0,1e40], "column_splits": [0,8], "owners": [[0]]})", "row_splits holds"},
           {R"({"row_splits": [0,10], "column_splits": [0,8], "owners": [[2147483648]]})", "owners holds 2147483648"},
           {R"({"row_splits": [0,10], "column_splits": [0,8], "owners": [["0"]]})", "owners holds \"0\""},
           {R"({"row_splits": [0], "column_splits": [0,8], "owners": []})", "at least two numbers"},
           {R"({"row_splits": [0,5,10], "column_splits": [0,8], "owners": [[0]]})", "owners has 1 rows, expected 2"},
           {R"({"row_splits": [0,10], "column_splits": [0,8], "owners": [[0,1]]})",
            "a row that is an array of 2, expected 1"},
           {R"({"row_splits": [0,10], "column_splits": [0,8], "owners": [[0]], "storage": "C"})", "storage is \"C\""},
           {R"({"row_splits": [0,9], "column_splits": [0,8], "owners": [[0]]})", "of 9 x 8, expected 10 x 8"},
           {R"({"row_splits": [0,7,5,10], "column_splits": [0,8], "owners": [[0],[0],[0]]})", "f.json: "},
           {R"({"row_splits": [1,10], "column_splits": [0,8], "owners": [[0]]})", "f.json: "},
       }) {
    EXPECT_THAT(
        test::message_of<LayoutError>([json = json] { static_cast<void>(parse_custom_layout(json, spec(), {10, 8})); }),
        testing::AllOf(testing::StartsWith("f.json: "), testing::HasSubstr(complaint)))
        << json;
  }
}

}  // namespace
}  // namespace plait::cli
