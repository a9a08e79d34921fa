#include <algorithm>
#include <array>

#include <gtest/gtest.h>

#include "plait/base/error.hpp"
#include "plait/layout/text.hpp"

#include "random_axis.hpp"

namespace plait::test {
namespace {

using layout::GridOrder;
using layout::Layout;
using layout::LayoutKind;
using layout::LayoutSpec;
using layout::Shape;

/// Any layout that text can say, but a custom one.
LayoutSpec random_spec(Dice& dice) {
  constexpr std::array kinds{LayoutKind::block_cyclic, LayoutKind::rows, LayoutKind::columns, LayoutKind::blocks};
  LayoutSpec spec;
  spec.kind = kinds[static_cast<std::size_t>(dice.between(0, 3))];
  if (spec.kind != LayoutKind::columns) spec.grid_rows = dice.between(1, 6);
  if (spec.kind != LayoutKind::rows) spec.grid_columns = dice.between(1, 6);
  if (spec.kind == LayoutKind::block_cyclic) {
    spec.block_rows = dice.between(1, 40);
    spec.block_columns = dice.between(1, 40);
    spec.first_row_part = dice.between(0, spec.grid_rows - 1);
    spec.first_column_part = dice.between(0, spec.grid_columns - 1);
  }
  const bool by_columns = default_storage(spec.kind) == StorageOrder::column_major;
  if (dice.maybe(50)) spec.storage = by_columns ? StorageOrder::row_major : StorageOrder::column_major;
  if (dice.maybe(40)) spec.order = GridOrder::column;
  if (dice.maybe(30)) {
    spec.order = GridOrder::row;
    for (Index i = 0; i < spec.grid_rows * spec.grid_columns; ++i) {
      spec.listed_ranks.push_back(static_cast<int>(dice.between(0, 50)));
    }
  }
  if (dice.maybe(40)) {
    spec.within = Shape{dice.between(0, 1000), dice.between(0, 1000)};
    spec.row = dice.between(0, spec.within->rows);
    spec.column = dice.between(0, spec.within->columns);
  }
  return spec;
}

Shape random_shape(Dice& dice, const LayoutSpec& spec) {
  const Shape most =
      spec.within ? Shape{spec.within->rows - spec.row, spec.within->columns - spec.column} : Shape{99, 99};
  return {dice.between(0, most.rows), dice.between(0, most.columns)};
}

TEST(LayoutSpecProperty, TextIsReadAsItWasWritten) {
  for (std::uint64_t seed = 0; seed < 5000; ++seed) {
    Dice dice(seed);
    const LayoutSpec spec = random_spec(dice);
    SCOPED_TRACE("seed " + std::to_string(seed) + ": " + spec.text());
    ASSERT_EQ(LayoutSpec::parse(spec.text()), spec);
    ASSERT_EQ(LayoutSpec::parse(spec.text()).text(), spec.text());
  }
}

TEST(LayoutSpecProperty, TheWordsForALayoutMeanThatLayout) {
  for (std::uint64_t seed = 0; seed < 5000; ++seed) {
    Dice dice(seed);
    const LayoutSpec spec = random_spec(dice);
    const Layout layout = spec.on(random_shape(dice, spec));
    SCOPED_TRACE("seed " + std::to_string(seed) + ": " + spec.text() + " is " + describe(layout));
    ASSERT_EQ(layout.ranks(), spec.ranks());
    const auto found = spec_of(layout);
    ASSERT_TRUE(found.has_value());
    ASSERT_EQ(found->on(layout.shape()), layout);
    ASSERT_EQ(LayoutSpec::parse(found->text()), *found);
    ASSERT_EQ(describe(layout).find('\n'), std::string::npos);
  }
}

TEST(LayoutSpecProperty, DamagedTextIsReadOrRefusedInThreeLines) {
  constexpr std::string_view alphabet = "0129x@:,=-rowcatblk \n\t\xc3";
  for (std::uint64_t seed = 0; seed < 20000; ++seed) {
    Dice dice(seed);
    std::string text = random_spec(dice).text();
    for (Index i = dice.between(1, 4); i > 0 && !text.empty(); --i) {
      const auto place = static_cast<std::size_t>(dice.between(0, static_cast<Index>(text.size()) - 1));
      const char letter = alphabet[static_cast<std::size_t>(dice.between(0, static_cast<Index>(alphabet.size()) - 1))];
      const Index damage = dice.between(0, 3);
      if (damage == 0) text.erase(place, 1);
      if (damage == 1) text.insert(place, 1, letter);
      if (damage == 2) text[place] = letter;
      if (damage == 3) text.resize(place);
    }
    SCOPED_TRACE("seed " + std::to_string(seed) + ": " + text);
    try {
      const LayoutSpec spec = LayoutSpec::parse(text);
      ASSERT_EQ(LayoutSpec::parse(spec.text()), spec);
    } catch (const LayoutError& error) {
      const std::string what = error.what();
      ASSERT_EQ(std::ranges::count(what, '\n'), 2) << what;
      const std::string_view last_line = std::string_view(what).substr(what.rfind('\n') + 1);
      ASSERT_EQ(last_line.find_first_not_of(' '), last_line.size() - 1) << what;
      ASSERT_EQ(last_line.back(), '^') << what;
      ASSERT_LE(last_line.size(), text.size() + 1) << what;
    }
  }
}

}  // namespace
}  // namespace plait::test
