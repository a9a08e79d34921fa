#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "plait/layout/text.hpp"

#include "cli/host/layouts.hpp"

namespace plait::cli {
namespace {

using nlohmann::json;

// Marks every element with the number of the file that is said to hold it, in the order of the files.
std::vector<int> files_of_elements(const json& description) {
  const int rows = description["shape"][0];
  const int columns = description["shape"][1];
  std::vector<int> file_of(static_cast<std::size_t>(rows) * static_cast<std::size_t>(columns), -1);
  int number = 0;
  for (const json& file : description["files"]) {
    for (const json& row_range : description["row_parts"][file["row_part"].get<std::size_t>()]) {
      for (const json& column_range : description["column_parts"][file["column_part"].get<std::size_t>()]) {
        for (int i = row_range[0]; i < row_range[1]; ++i) {
          for (int j = column_range[0]; j < column_range[1]; ++j) {
            int& mark = file_of.at(static_cast<std::size_t>(i * columns + j));
            EXPECT_EQ(mark, -1) << "(" << i << ", " << j << ") is in two files";
            mark = number;
          }
        }
      }
    }
    ++number;
  }
  return file_of;
}

TEST(LayoutFolder, the_description_puts_every_element_into_a_file_of_its_owner) {
  const auto grid = layout::Owners::grid(2, 3, layout::GridOrder::column);
  for (const auto& layout :
       {layout::Layout::block_cyclic({11, 13}, 2, 3, grid, 1, 2),
        layout::Layout::block_cyclic({20, 30}, 4, 3, grid).submatrix(3, 5, {10, 17}), layout::Layout::rows({3, 4}, 5),
        layout::Layout::blocks({7, 9}, 3, 2), layout::Layout::custom({0, 2, 2, 7}, {0, 5, 6}, {3, 0, 1, 3, 3, 0})}) {
    const auto description = json::parse(folder_description(layout, io::DType::f32));
    EXPECT_EQ(description["dtype"], "f32");
    const auto file_of = files_of_elements(description);
    for (Index i = 0; i < layout.shape().rows; ++i) {
      for (Index j = 0; j < layout.shape().columns; ++j) {
        const int file = file_of[static_cast<std::size_t>(i * layout.shape().columns + j)];
        ASSERT_NE(file, -1);
        EXPECT_EQ(description["files"][static_cast<std::size_t>(file)]["rank"], layout.owner_of(i, j));
      }
    }
  }
}

TEST(LayoutFolder, the_layout_is_told_in_words_that_the_command_reads_back) {
  const auto grid = layout::Owners::grid(2, 3, layout::GridOrder::column);
  const auto listed =
      layout::Owners::listed(1, 20, {7, 6, 5, 4, 3, 2, 1, 0, 8, 9, 10, 19, 18, 17, 16, 15, 14, 13, 12, 11});
  for (const auto& layout : {layout::Layout::block_cyclic({11, 13}, 2, 3, grid, 1, 2),
                             layout::Layout::block_cyclic({20, 30}, 4, 3, grid).submatrix(3, 5, {10, 17}),
                             layout::Layout::rows({3, 4}, 5, StorageOrder::column_major),
                             layout::Layout::block_cyclic({40, 40}, 1, 1, listed)}) {
    const auto description = json::parse(folder_description(layout, io::DType::f32));
    const auto read_back = layout::LayoutSpec::parse(description["layout"].get<std::string>());
    EXPECT_EQ(read_back.on({description["shape"][0], description["shape"][1]}), layout);
  }
  const auto custom = layout::Layout::custom({0, 2, 7}, {0, 5}, {1, 1});
  EXPECT_TRUE(json::parse(folder_description(custom, io::DType::f32))["layout"].is_null());
}

TEST(LayoutFolder, only_a_rank_with_several_tiles_has_their_numbers_in_its_files_names) {
  const auto layout = layout::Layout::custom({0, 2, 7}, {0, 5}, {1, 1});
  const auto files = json::parse(folder_description(layout, io::DType::f32))["files"];
  ASSERT_EQ(files.size(), 2U);
  EXPECT_EQ(files[0]["file"], "rank-0001-tile-0000.npy");
  EXPECT_EQ(files[1]["file"], "rank-0001-tile-0001.npy");
  EXPECT_EQ(files[1]["shape"], json({5, 5}));
  const auto rows = json::parse(folder_description(layout::Layout::rows({3, 4}, 1), io::DType::f32))["files"];
  EXPECT_EQ(rows[0]["file"], "rank-0000.npy");
}

}  // namespace
}  // namespace plait::cli
