#include "plait/simd/transform/transpose.hpp"

#include <algorithm>
#include <cstring>
#include <vector>

#include <gtest/gtest.h>

#include "plait/base/contract.hpp"
#include "plait/base/random.hpp"
#include "plait/base/rounding.hpp"
#include "plait/simd/transform/reference.hpp"

#include "guarded.hpp"

namespace plait::simd {
namespace {

using test::Guarded;

constexpr Index element_sizes[] = {1, 2, 4, 8, 16};

struct Transposition {
  Index rows;
  Index columns;
  Index source_ld;
  Index target_ld;
  Index element_bytes;
  Index source_offset;
  Index target_offset;
};

/// Every instruction set and kind of stores writes what the reference writes, and nothing else.
void expect_transposed(const Transposition& t) {
  const Guarded source(t.source_ld * t.columns * t.element_bytes, t.source_offset, 1);
  const Guarded before(t.target_ld * t.rows * t.element_bytes, t.target_offset, 2);
  Guarded expected = before;
  transpose_reference(t.rows, t.columns, source.data(), t.source_ld, expected.data(), t.target_ld, t.element_bytes);
  for (const Isa isa : supported_isas()) {
    for (const Stores stores : {Stores::cached, Stores::streaming}) {
      Guarded target = before;
      transpose(t.rows, t.columns, source.data(), t.source_ld, target.data(), t.target_ld, t.element_bytes, isa,
                stores);
      ASSERT_EQ(target == expected, true)
          << t.rows << " x " << t.columns << " elements of " << t.element_bytes << " bytes, leading dimensions "
          << t.source_ld << ", " << t.target_ld << ", offsets " << t.source_offset << ", " << t.target_offset << ", "
          << name(isa) << (stores == Stores::streaming ? ", streaming" : "");
    }
  }
}

TEST(TransposeReference, MovesEachElementToItsMirrorPlace) {
  const short source[] = {11, 21, -1, 12, 22, -1, 13, 23, -1};  // 2 x 3, one row of padding
  short target[] = {0, 0, 0, 7, 0, 0, 0, 8};
  transpose_reference(2, 3, reinterpret_cast<const std::byte*>(source), 3, reinterpret_cast<std::byte*>(target), 4, 2);
  const short expected[] = {11, 12, 13, 7, 21, 22, 23, 8};
  EXPECT_EQ(std::memcmp(target, expected, sizeof expected), 0);
}

TEST(Transpose, AgreesWithTheReferenceForAllSmallShapes) {
  for (const Index element : element_sizes) {
    for (Index rows = 0; rows <= 40; ++rows) {
      for (Index columns = 0; columns <= 40; ++columns) {
        const Index source_ld = std::max(Index{1}, rows + (rows + 3 * columns) % 4);
        const Index target_ld = std::max(Index{1}, columns + (5 * rows + columns) % 3);
        expect_transposed({rows, columns, source_ld, target_ld, element, 7 * rows + columns, rows + 11 * columns});
        if (HasFatalFailure()) return;
      }
    }
  }
}

TEST(Transpose, AgreesWithTheReferenceAtEveryAlignment) {
  for (const Index element : element_sizes) {
    const Index rows = 80 / element + 7;
    const Index columns = 600 / element + 3;
    for (Index offset = 0; offset < 64; ++offset) {
      // Columns of the target whole lines apart, and at all distances from lines.
      expect_transposed({rows, columns, 2 * rows, (columns / 64 + 1) * 64, element, offset, 0});
      expect_transposed({rows, columns, (rows / 64 + 1) * 64, (columns / 64 + 1) * 64, element, offset, 37 * offset});
      expect_transposed({rows, columns, rows, columns + offset % 5, element, 29 * offset, offset});
      if (HasFatalFailure()) return;
    }
  }
}

TEST(Transpose, AgreesWithTheReferenceOverManyTilesAndBands) {
  for (const Index element : element_sizes) {
    for (const auto& [rows, columns] : std::vector<std::pair<Index, Index>>{{1, 3000},
                                                                            {3000, 1},
                                                                            {2, 700},
                                                                            {700, 2},
                                                                            {9, 601},
                                                                            {601, 9},
                                                                            {130, 260},
                                                                            {289, 97},
                                                                            {97, 289},
                                                                            {97, 1300}}) {
      const Index half_page = 2048 / element;
      // Leading dimensions: none to spare, whole lines, such that columns of the source collide in the caches.
      for (const auto& [of_source, of_target] : std::vector<std::pair<Index, Index>>{
               {1, 1}, {64, 64}, {512, 512}, {half_page, 1}, {half_page, 64}, {half_page, 1024}}) {
        const Index source_ld = rounded_up(rows, of_source);
        const Index target_ld = rounded_up(columns, of_target);
        expect_transposed({rows, columns, source_ld, target_ld, element, 0, 0});
        expect_transposed({rows, columns, source_ld, target_ld, element, element, 3 * element});
        if (HasFatalFailure()) return;
      }
    }
  }
}

TEST(Transpose, AgreesWithTheReferenceForRandomCases) {
  const std::uint64_t seed = 20240229;
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::uint64_t counter = 0;
  const auto up_to = [&](Index bound) {
    return static_cast<Index>(random_bits(seed, counter++) % static_cast<std::uint64_t>(bound + 1));
  };
  for (int i = 0; i < 300; ++i) {
    const Index rows = up_to(200);
    const Index columns = up_to(200);
    expect_transposed({rows, columns, std::max(Index{1}, rows + up_to(70)), std::max(Index{1}, columns + up_to(70)),
                       element_sizes[up_to(4)], up_to(63), up_to(63)});
    if (HasFatalFailure()) return;
  }
}

TEST(Transpose, StreamsByItselfToALargeTarget) {
  for (const Index target_ld : {600, 601, 1024}) {
    const Index rows = streaming_threshold_bytes() / 8 / 600 + 1;
    const Guarded source(rows * 600 * 8, 0, 1);
    Guarded target(target_ld * rows * 8, 0, 2);
    Guarded expected = target;
    transpose(rows, 600, source.data(), rows, target.data(), target_ld, 8);
    transpose(rows, 600, source.data(), rows, expected.data(), target_ld, 8, Isa::scalar, Stores::cached);
    EXPECT_EQ(target == expected, true) << target_ld;
  }
}

TEST(Transpose, OfNothingTouchesNothing) {
  for (const Isa isa : supported_isas()) {
    transpose(0, 5, nullptr, 1, nullptr, 5, 8, isa);
    transpose(5, 0, nullptr, 5, nullptr, 1, 8, isa);
  }
}

/// Runs with gaps between them, on either side in another order.
struct Runs {
  std::vector<ElementRun> runs;
  Index source_extent = 0;
  Index target_extent = 0;

  void add(Index length, Index source_gap, Index target_gap) {
    runs.push_back({source_extent + source_gap, 0, length});
    source_extent += source_gap + length;
    target_gaps.push_back(target_gap);
  }
  void add_comb(Index teeth, Index source_gap, Index distance) {
    source_extent += source_gap;
    for (Index i = 0; i < teeth; ++i) add(1, 0, distance - 1);
  }
  void place_in_target_in_order() {
    for (std::size_t i = 0; i < runs.size(); ++i) {
      runs[i].target = target_extent + target_gaps[i];
      target_extent = runs[i].target + runs[i].length;
    }
  }
  void place_in_target() {  // the last run first
    for (std::size_t i = runs.size(); i-- > 0;) {
      runs[i].target = target_extent + target_gaps[i];
      target_extent = runs[i].target + runs[i].length;
    }
  }

 private:
  std::vector<Index> target_gaps;
};

TEST(TransposeRuns, AgreesWithTheReferenceForEachRectangle) {
  const std::uint64_t seed = 20240301;
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::uint64_t counter = 0;
  const auto up_to = [&](Index bound) {
    return static_cast<Index>(random_bits(seed, counter++) % static_cast<std::uint64_t>(bound + 1));
  };
  const auto random_runs = [&](Index unit) {
    Runs result;
    for (Index i = up_to(4); i >= 0; --i) result.add(up_to(90 / unit) * unit, up_to(2) * unit, up_to(2) * unit);
    result.place_in_target();
    return result;
  };
  const auto random_combs = [&] {
    Runs result;
    for (Index i = up_to(3); i >= 0; --i) {
      result.add_comb(up_to(60), up_to(1), 1 + up_to(3));
      result.add(up_to(3), up_to(1), up_to(2));
    }
    result.place_in_target_in_order();
    return result;
  };
  for (int i = 0; i < 200; ++i) {
    const Index element = element_sizes[up_to(4)];
    const Index unit = i % 2 == 0 ? 1 : 64 / element;  // anywhere, and in whole lines
    const Runs rows = i % 3 == 0 ? random_combs() : random_runs(unit);
    const Runs columns = random_runs(unit);
    const Index spared_ld = std::max(Index{1}, rows.source_extent + up_to(2) * unit);
    const Index half_page = 2048 / element;  // columns that collide in the caches
    const Index source_ld = i % 5 == 0 ? (spared_ld + half_page - 1) / half_page * half_page : spared_ld;
    const Index target_ld = std::max(Index{1}, columns.target_extent + up_to(2) * unit);
    const Index offset = i % 2 == 0 ? up_to(63) : 0;
    const Guarded source(source_ld * columns.source_extent * element, offset, 1);
    const Guarded before(target_ld * rows.target_extent * element, offset, 2);
    Guarded expected = before;
    for (const ElementRun& r : rows.runs) {
      for (const ElementRun& c : columns.runs) {
        transpose_reference(r.length, c.length, source.data() + (r.source + c.source * source_ld) * element, source_ld,
                            expected.data() + (c.target + r.target * target_ld) * element, target_ld, element);
      }
    }
    for (const Isa isa : supported_isas()) {
      for (const Stores stores : {Stores::cached, Stores::streaming}) {
        Guarded target = before;
        transpose_runs(rows.runs, columns.runs, source.data(), source_ld, target.data(), target_ld, element, isa,
                       stores);
        ASSERT_EQ(target == expected, true) << "case " << i << ", elements of " << element << " bytes, " << name(isa)
                                            << (stores == Stores::streaming ? ", streaming" : "");
      }
    }
  }
}

#if PLAIT_ASSERT_LEVEL >= 1
TEST(Transpose, ChecksItsContract) {
  std::byte data[64];
  EXPECT_THROW(transpose(-1, 2, data, 2, data + 32, 2, 4), ContractViolation);
  EXPECT_THROW(transpose(2, 2, data, 1, data + 32, 2, 4), ContractViolation);
  EXPECT_THROW(transpose(2, 2, data, 2, data + 32, 1, 4), ContractViolation);
  EXPECT_THROW(transpose(2, 2, data, 2, data + 32, 2, 3), ContractViolation);
}
#endif

}  // namespace
}  // namespace plait::simd
