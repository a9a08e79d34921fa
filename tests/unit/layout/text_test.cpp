#include "plait/layout/text.hpp"

#include <algorithm>
#include <utility>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "plait/base/error.hpp"

#include "support/message_of.hpp"

namespace plait::layout {
namespace {

using ::testing::HasSubstr;

constexpr Shape shape{100, 50};

TEST(LayoutSpec, MeansTheLayoutThatItsTextSays) {
  EXPECT_EQ(LayoutSpec::parse("block-cyclic:32x16@4x2").on(shape),
            Layout::block_cyclic(shape, 32, 16, Owners::grid(4, 2)));
  EXPECT_EQ(LayoutSpec::parse("block-cyclic:32x16@4x2,order=col,src=1,0").on(shape),
            Layout::block_cyclic(shape, 32, 16, Owners::grid(4, 2, GridOrder::column), 1, 0));
  EXPECT_EQ(LayoutSpec::parse("rows@7").on(shape), Layout::rows(shape, 7));
  EXPECT_EQ(LayoutSpec::parse("rows@7,storage=col").on(shape), Layout::rows(shape, 7, StorageOrder::column_major));
  EXPECT_EQ(LayoutSpec::parse("cols@3").on(shape), Layout::columns(shape, 3));
  EXPECT_EQ(LayoutSpec::parse("cols@3,storage=row").on(shape), Layout::columns(shape, 3, StorageOrder::row_major));
  EXPECT_EQ(LayoutSpec::parse("blocks@3x2").on(shape), Layout::blocks(shape, 3, 2));
  EXPECT_EQ(LayoutSpec::parse("blocks@3x2,order=col").on(shape), Layout::blocks(shape, 3, 2, GridOrder::column));
  EXPECT_EQ(LayoutSpec::parse("block-cyclic:4x4@1x3,ranks=0,1,0").on(shape),
            Layout::block_cyclic(shape, 4, 4, Owners::listed(1, 3, {0, 1, 0})));
  EXPECT_EQ(LayoutSpec::parse("block-cyclic:4x4@1x3,ranks=5,9,2").on(shape),
            Layout::block_cyclic(shape, 4, 4, Owners::listed(1, 3, {5, 9, 2})));
  EXPECT_EQ(LayoutSpec::parse("block-cyclic:4x4@2x2,within=200x300,at=20,70").on(shape),
            Layout::block_cyclic({200, 300}, 4, 4, Owners::grid(2, 2)).submatrix(20, 70, shape));
  EXPECT_EQ(LayoutSpec::parse("blocks@2x2,within=200x300").on(shape),
            Layout::blocks({200, 300}, 2, 2).submatrix(0, 0, shape));
}

TEST(LayoutSpec, AllowsPartsWithoutElements) {
  EXPECT_EQ(LayoutSpec::parse("rows@7").on({3, 3}).elements_of(6), 0);
  EXPECT_EQ(LayoutSpec::parse("block-cyclic:64x64@2x2").on({0, 0}).shape(), (Shape{0, 0}));
}

TEST(LayoutSpec, TellsHowManyRanksItNeeds) {
  EXPECT_EQ(LayoutSpec::parse("rows@7").ranks(), 7);
  EXPECT_EQ(LayoutSpec::parse("blocks@3x2,order=col").ranks(), 6);
  EXPECT_EQ(LayoutSpec::parse("cols@3,ranks=5,9,2").ranks(), 10);
  EXPECT_THAT(test::message_of<LayoutError>([] { return LayoutSpec::parse("custom:a.json").ranks(); }),
              HasSubstr("custom:a.json names a file"));
}

TEST(LayoutSpec, KeepsThePathOfACustomLayoutForOthersToRead) {
  EXPECT_EQ(LayoutSpec::parse("custom:dir/a,b@c.json").path, "dir/a,b@c.json");
  const LayoutSpec spec = LayoutSpec::parse("custom:a.json,storage=row,within=200x300,at=1,2");
  EXPECT_EQ(spec.path, "a.json");
  EXPECT_EQ(spec.storage, StorageOrder::row_major);
  EXPECT_EQ(spec.within, (Shape{200, 300}));
  EXPECT_EQ(spec.column, 2);
  EXPECT_THAT(test::message_of<LayoutError>([&] { return spec.on(shape); }), HasSubstr("names a file"));
}

TEST(LayoutSpec, IsWrittenInItsShortestForm) {
  const std::vector<std::pair<const char*, const char*>> texts{
      {"block-cyclic:32x128@4x2,order=row,src=0,0,storage=col", "block-cyclic:32x128@4x2"},
      {"block-cyclic:32x128@4x2,src=1,0,order=col", "block-cyclic:32x128@4x2,order=col,src=1,0"},
      {"block-cyclic:1x1@1x1,storage=row", "block-cyclic:1x1@1x1,storage=row"},
      {"rows@007,storage=row", "rows@7"},
      {"rows@7,storage=col", "rows@7,storage=col"},
      {"cols@3,ranks=2,1,0,storage=row", "cols@3,storage=row,ranks=2,1,0"},
      {"blocks@3x2,at=4,5,within=40x50", "blocks@3x2,within=40x50,at=4,5"},
      {"blocks@3x2,within=40x50,at=0,0", "blocks@3x2,within=40x50"},
      {"custom:a,b.json,storage=col", "custom:a,b.json,storage=col"},
  };
  for (const auto& [given, shortest] : texts) {
    EXPECT_EQ(LayoutSpec::parse(given).text(), shortest);
    EXPECT_EQ(LayoutSpec::parse(shortest), LayoutSpec::parse(given)) << given;
  }
}

TEST(LayoutSpec, DoesNotSuitAMatrixThatReachesOutOfTheWhole) {
  EXPECT_THAT(test::message_of<LayoutError>([] { return LayoutSpec::parse("rows@7,within=100x60,at=1,0").on(shape); }),
              HasSubstr("rows@7,within=100x60,at=1,0 does not suit a matrix of 100 x 50"));
}

struct Mistake {
  const char* text;
  const char* caret;  // spaces and a caret, to be read under the text
  const char* what;
};

TEST(LayoutSpec, PointsAtAMistake) {
  const std::vector<Mistake> mistakes{
      {"",  //
       "^", "the kind of layout is '', expected block-cyclic, rows, cols, blocks or custom"},
      {"row@7",  //
       "^", "the kind of layout is 'row'"},
      {"blöcke@7",  //
       "^", "the kind of layout is 'bl'"},
      {"block-cyclic",  //
       "            ^", "expected ':' after block-cyclic"},
      {"block-cyclic:",  //
       "             ^", "expected the block's row count, a whole number of at least 1"},
      {"block-cyclic:32xx128@4x2",  //
       "                ^", "expected the block's column count, a whole number of at least 1"},
      {"block-cyclic:32",  //
       "               ^", "expected 'x' after the block's row count"},
      {"block-cyclic:32x0@4x2",  //
       "                ^", "the block's column count is 0, expected at least 1"},
      {"block-cyclic:32x128",  //
       "                   ^", "expected '@' after the block's column count"},
      {"block-cyclic:32x128@4",  //
       "                     ^", "expected 'x' after the grid's row count"},
      {"block-cyclic:32x9223372036854775808@4x2",  //
       "                ^", "the block's column count is 9223372036854775808, expected at most 9223372036854775807"},
      {"block-cyclic:8x8@4x2,src=4,0",  //
       "                         ^", "first block belongs is 4, expected at most 3"},
      {"block-cyclic:8x8@4x2,src=0,2",  //
       "                           ^", "first block belongs is 2, expected at most 1"},
      {"block-cyclic:8x8@4x2,src=0",  //
       "                          ^", "expected ',' after the row of the grid"},
      {"rows:7",  //
       "    ^", "expected '@' after rows"},
      {"rows@",  //
       "     ^", "expected the number of ranks, a whole number of at least 1"},
      {"rows@0",  //
       "     ^", "the number of ranks is 0, expected at least 1"},
      {"rows@-3",  //
       "     ^", "the number of ranks is -3, expected at least 1"},
      {"rows@-99999999999999999999",  //
       "     ^", "the number of ranks is -99999999999999999999, expected at least 1"},
      {"rows@2147483648",  //
       "     ^", "the number of ranks is 2147483648, expected at most 2147483647"},
      {"rows@99999999999999999999",  //
       "     ^", "the number of ranks is 99999999999999999999, expected at most 2147483647"},
      {"rows@7x2",  //
       "      ^", "expected the end or a comma and an option"},
      {"rows@7 ",  //
       "      ^", "expected the end or a comma and an option"},
      {"rows@7,",  //
       "       ^", "expected an option (order=, src=, storage=, ranks=, within=, at=)"},
      {"rows@7,5",  //
       "       ^", "expected an option"},
      {"rows@7,oder=col",  //
       "       ^", "the option is 'oder', expected one of order=, src="},
      {"rows@7,order",  //
       "            ^", "expected '=' after order"},
      {"rows@7,order=up",  //
       "             ^", "order= is 'up', expected row or col"},
      {"rows@7,storage=",  //
       "               ^", "storage= is '', expected row or col"},
      {"rows@7,storage=row,storage=row",  //
       "                   ^", "storage= is given twice, expected it once"},
      {"rows@7,src=0,0",  //
       "       ^", "src= belongs to block-cyclic"},
      {"blocks@65536x65536",  //
       "       ^", "grid has 65536 x 65536 ranks, expected at most 2147483647 in all"},
      {"blocks@2x2,ranks=0,1,2",  //
       "                 ^", "ranks= lists 3 ranks, expected 4 for a process grid of 2 x 2"},
      {"blocks@2x2,ranks=0,1,2,3,4",  //
       "                 ^", "ranks= lists 5 ranks, expected 4"},
      {"blocks@2x2,ranks=0,1,,3",  //
       "                     ^", "expected a rank, a whole number of at least 0"},
      {"blocks@2x2,ranks=0,1,2,3,",  //
       "                         ^", "expected a rank"},
      {"blocks@2x2,ranks=0,1,2,x",  //
       "                       ^", "expected a rank"},
      {"blocks@2x2,ranks=0,1,-2,3",  //
       "                     ^", "a rank is -2, expected at least 0"},
      {"blocks@1x1,ranks=2147483647",  //
       "                 ^", "a rank is 2147483647, expected at most 2147483646"},
      {"rows@2,order=col,ranks=1,0",  //
       "       ^", "order= and ranks= both number the process grid, expected only one"},
      {"rows@2,within=5",  //
       "               ^", "expected 'x' after the whole matrix's row count"},
      {"rows@2,within=5x-1",  //
       "                ^", "the whole matrix's column count is -1, expected at least 0"},
      {"rows@2,at=1,1",  //
       "       ^", "at= is given without within=RxC"},
      {"rows@2,at=6,1,within=5x5",  //
       "       ^", "at= is 6,1, expected a place within 5 x 5"},
      {"custom",  //
       "      ^", "expected ':' after custom"},
      {"custom:",  //
       "       ^", "expected the path of a file"},
      {"custom:,storage=row",  //
       "       ^", "expected the path of a file"},
      {"custom:ä.json,ranks=1",  //
       "              ^", "ranks= numbers a process grid"},
  };
  for (const Mistake& mistake : mistakes) {
    try {
      (void)LayoutSpec::parse(mistake.text);
      ADD_FAILURE() << mistake.text << " was accepted";
    } catch (const LayoutError& error) {
      const std::string text = error.what();
      EXPECT_THAT(text, HasSubstr(mistake.what));
      const std::string last_lines = std::string("\n") + mistake.text + "\n" + mistake.caret;
      EXPECT_TRUE(text.ends_with(last_lines)) << text << "\nshould end with" << last_lines;
      EXPECT_EQ(std::ranges::count(text, '\n'), 2) << text;
    }
  }
}

TEST(LayoutSpec, ShowsControlCharactersWithoutBreakingTheLine) {
  EXPECT_THAT(test::message_of<LayoutError>([] { return LayoutSpec::parse("rows@\t\n7"); }),
              HasSubstr("\nrows@??7\n     ^"));
}

TEST(Describe, WritesTheTextFormAndTheShape) {
  const std::vector<std::string> texts{
      "block-cyclic:32x128@4x2,order=col,src=1,0",
      "block-cyclic:32x128@4x2,storage=row,ranks=7,6,5,4,3,2,1,0",
      "rows@7",
      "rows@7,storage=col",
      "rows@1",
      "cols@1",
      "cols@3",
      "cols@3,ranks=3,4,5",
      "blocks@3x2,within=300x200,at=7,8",
      "rows@3,within=300x200,at=7,8",
  };
  for (const std::string& text : texts) {
    EXPECT_EQ(describe(LayoutSpec::parse(text).on(shape)), text + " of 100 x 50");
  }
}

TEST(Describe, WritesASubmatrixOfTheSmallestWhole) {
  const Layout layout = Layout::block_cyclic({1000, 1000}, 8, 8, Owners::grid(2, 2)).submatrix(3, 4, shape);
  EXPECT_EQ(describe(layout), "block-cyclic:8x8@2x2,within=103x54,at=3,4 of 100 x 50");
  EXPECT_EQ(spec_of(layout)->on(shape), layout);
}

TEST(Describe, CountsRanksThatAreTooManyToList) {
  std::vector<int> ranks(64);
  for (std::size_t i = 0; i < 64; ++i) ranks[i] = static_cast<int>(i / 2);
  EXPECT_EQ(describe(Layout::block_cyclic(shape, 4, 4, Owners::listed(8, 8, ranks))),
            "block-cyclic:4x4@8x8 of 100 x 50 over 32 listed ranks");
}

TEST(Describe, CountsTheTilesOfWhatHasNoTextForm) {
  const Layout custom = Layout::custom({0, 10, 50, 100}, {0, 25, 50}, {0, 1, 2, 9, 0, 4});
  EXPECT_EQ(describe(custom), "custom 3x2 tiles of 100 x 50 over 5 ranks");
  EXPECT_FALSE(spec_of(custom).has_value());
  const Layout mixed(Axis::cyclic(100, 4, 3), Axis::even(50, 2), Owners::grid(3, 2), StorageOrder::row_major);
  EXPECT_EQ(describe(mixed), "cyclic by even 3x2 tiles of 100 x 50 over 6 ranks");
}

}  // namespace
}  // namespace plait::layout
