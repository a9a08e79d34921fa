#include "plait/simd/transform/copy.hpp"

#include <cstring>
#include <vector>

#include <gtest/gtest.h>

#include "guarded.hpp"

namespace plait::simd {
namespace {

using test::Guarded;

constexpr Stores all_stores[] = {Stores::automatic, Stores::cached, Stores::streaming};

/// A copy of these columns writes what `memcpy` would, and nothing else.
void expect_copied(Index minor, Index major, Index source_stride, Index target_stride, Index offset, Isa isa,
                   Stores stores) {
  const Guarded source(source_stride * major, 3 * offset, 1);
  Guarded target(target_stride * major, offset, 2);
  Guarded expected = target;
  for (Index j = 0; j < major; ++j) {
    std::memcpy(expected.data() + j * target_stride, source.data() + j * source_stride,
                static_cast<std::size_t>(minor));
  }
  copy_matrix(minor, major, source.data(), source_stride, target.data(), target_stride, isa, stores);
  EXPECT_EQ(target, expected) << minor << " bytes x " << major << ", strides " << source_stride << ", " << target_stride
                              << ", offset " << offset << ", " << name(isa);
}

TEST(StreamCopy, CopiesAnyNumberOfBytesToAnyPlaceOnEveryIsa) {
  const Index group = Index{4} * 4096;
  for (const Isa isa : supported_isas()) {
    for (Index bytes = 500; bytes < 700; ++bytes) {
      expect_copied(bytes, 1, bytes, bytes, bytes * 7, isa, Stores::streaming);
    }
    for (const Index bytes : {group - 1, group, group + 63, group + 64, 3 * group + 4097}) {
      for (const Index offset : {0, 1, 32, 63}) expect_copied(bytes, 1, bytes, bytes, offset, isa, Stores::streaming);
    }
  }
}

TEST(StreamCopy, TakesAnyKindOfStores) {
  for (const Stores stores : all_stores) {
    const Guarded source(1000, 0, 1);
    Guarded target(1000, 5, 2);
    stream_copy(target.data(), source.data(), 1000, best_isa(), stores);
    EXPECT_EQ(std::memcmp(target.data(), source.data(), 1000), 0);
  }
}

TEST(StreamCopy, OfNothingTouchesNothing) {
  for (const Stores stores : all_stores) stream_copy(nullptr, nullptr, 0, best_isa(), stores);
}

TEST(StreamCopy, OntoItselfChangesNothing) {
  Guarded data(5000, 0, 1);
  const Guarded before = data;
  stream_copy(data.data(), data.data(), 5000, best_isa(), Stores::streaming);
  EXPECT_EQ(data, before);
}

TEST(StreamCopy, StreamsByItselfWhatIsLarge) {
  const Index bytes = 8 * streaming_threshold_bytes() + 777;
  const Guarded source(bytes, 8, 1);
  Guarded target(bytes, 24, 2);
  stream_copy(target.data(), source.data(), bytes);
  EXPECT_EQ(std::memcmp(target.data(), source.data(), static_cast<std::size_t>(bytes)), 0);
}

TEST(CopyMatrix, KeepsWhatLiesBetweenTheColumnsOfTheTarget) {
  for (const Isa isa : supported_isas()) {
    for (const Stores stores : all_stores) {
      for (Index offset = 0; offset < 64; ++offset) {
        expect_copied(513 + offset, 3, 600 + 2 * offset, 580 + offset, offset, isa, stores);
        expect_copied(offset, 5, 64, 65, offset, isa, stores);
      }
    }
  }
}

TEST(CopyMatrix, CopiesDenseColumnsAsOneRun) {
  for (const Stores stores : all_stores) {
    expect_copied(100, 40, 100, 100, 8, best_isa(), stores);
    expect_copied(100, 40, 100, 104, 8, best_isa(), stores);
    expect_copied(100, 40, 104, 100, 8, best_isa(), stores);
    expect_copied(100, 0, 104, 100, 8, best_isa(), stores);
    expect_copied(0, 7, 0, 0, 8, best_isa(), stores);
  }
}

/// A copy of these runs writes what `memcpy` of each would, and nothing else.
void expect_runs_copied(const std::vector<CopiedRun>& runs, Index source_stride, Index target_stride, Index offset,
                        Isa isa, Stores stores, Gaps gaps) {
  constexpr Index major = 3;
  const Guarded source(source_stride * major, 3 * offset, 1);
  Guarded target(target_stride * major, offset, 2);
  Guarded expected = target;
  for (Index j = 0; j < major; ++j) {
    for (const CopiedRun& run : runs) {
      std::memcpy(expected.data() + j * target_stride + run.target, source.data() + j * source_stride + run.source,
                  static_cast<std::size_t>(run.bytes));
    }
  }
  copy_runs(runs, major, source.data(), source_stride, target.data(), target_stride, isa, stores, gaps);
  EXPECT_EQ(target, expected) << name(isa) << " offset " << offset << ", " << runs.size() << " runs, the first of "
                              << runs.front().bytes << " bytes";
}

TEST(CopyRuns, CopiesShortRunsOfAnyLength) {
  for (const Gaps gaps : {Gaps::skipped, Gaps::fetched}) {
    for (Index longest = 1; longest <= 66; ++longest) {
      std::vector<CopiedRun> equal, mixed;
      for (Index i = 0; i < 70; ++i) {
        equal.push_back({i * (longest + 3), i * (longest + 1), longest});
        mixed.push_back({i * (longest + 3), i * (longest + 1), i % (longest + 1)});
      }
      expect_runs_copied(equal, 70 * (longest + 3), 70 * (longest + 1), longest, best_isa(), Stores::cached, gaps);
      expect_runs_copied(mixed, 70 * (longest + 3), 70 * (longest + 1), longest, best_isa(), Stores::streaming, gaps);
    }
  }
}

TEST(CopyRuns, CopiesTheRunsOfEachColumnAndNothingElse) {
  for (const Isa isa : supported_isas()) {
    for (const Stores stores : all_stores) {
      for (const Index offset : {0, 1, 32, 63}) {
        std::vector<CopiedRun> runs;
        Index at = 0;
        for (const Index bytes : {0, 1, 63, 64, 65, 127, 128, 200, 256, 700, 2047, 2048, 2100, 16384, 17001}) {
          runs.push_back({at, at + 7 * static_cast<Index>(runs.size()) + offset, bytes});
          at += bytes;
        }
        expect_runs_copied(runs, 45011, 50017, offset, isa, stores, Gaps::skipped);
      }
    }
  }
}

TEST(CopyRuns, OfNothingTouchesNothing) { copy_runs({}, 3, nullptr, 0, nullptr, 0); }

}  // namespace
}  // namespace plait::simd
