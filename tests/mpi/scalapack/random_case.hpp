#pragma once

#include <complex>
#include <cstdlib>
#include <memory>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "tests/mpi/scalapack/local_array.hpp"
#include "tests/mpi/scalapack/process_grid.hpp"

namespace plait::test {

template <class T>
inline constexpr bool is_complex = requires(T z) { z.imag(); };

template <class T>
T scalar(int real, int imaginary) {
  if constexpr (is_complex<T>) {
    using Real = typename T::value_type;
    return {static_cast<Real>(real), static_cast<Real>(imaginary)};
  } else {
    return static_cast<T>(real);
  }
}

template <class T>
T conjugated(T value) {
  if constexpr (is_complex<T>) return std::conj(value);
  return value;
}

/// The same on all ranks.
using RandomNumbers = std::mt19937;

inline int uniform(RandomNumbers& random, int least, int most) {
  return least + static_cast<int>(random() % static_cast<unsigned>(most - least + 1));
}
inline bool coin(RandomNumbers& random) { return random() % 2 == 0; }

/// A place in a matrix around m x n elements, and how the matrix is distributed.
struct Place {
  Distribution distribution;
  int i;
  int j;
};

inline Place random_place(RandomNumbers& random, const ProcessGrid& grid, int m, int n) {
  const int i = coin(random) ? 1 : uniform(random, 1, 20);
  const int j = coin(random) ? 1 : uniform(random, 1, 20);
  const auto block = [&] { return coin(random) ? uniform(random, 1, 4) : uniform(random, 1, 40); };
  const auto margin = [&] { return coin(random) ? 0 : uniform(random, 0, 9); };
  return {{i - 1 + m + margin(), j - 1 + n + margin(), block(), block(), uniform(random, 0, grid.rows() - 1),
           uniform(random, 0, grid.columns() - 1), uniform(random, 0, 2)},
          i,
          j};
}

inline std::string to_string(const Place& place) {
  const Distribution& d = place.distribution;
  return "(" + std::to_string(place.i) + ", " + std::to_string(place.j) + ") of " + std::to_string(d.rows) + "x" +
         std::to_string(d.columns) + " in " + std::to_string(d.block_rows) + "x" + std::to_string(d.block_columns) +
         " from (" + std::to_string(d.first_row) + "," + std::to_string(d.first_column) + ")";
}

/// All shapes of all ranks in both orders, and in a random one.
inline std::vector<std::unique_ptr<ProcessGrid>> full_grids(RandomNumbers& random) {
  std::vector<std::unique_ptr<ProcessGrid>> grids;
  for (int rows = 1; rows <= ranks(); ++rows) {
    if (ranks() % rows != 0) continue;
    const int columns = ranks() / rows;
    grids.push_back(std::make_unique<ProcessGrid>(rows, columns, ordered(rows, columns, 'R')));
    if (rows > 1 && columns > 1) {
      grids.push_back(std::make_unique<ProcessGrid>(rows, columns, ordered(rows, columns, 'C')));
    }
    std::vector<int> any = ordered(rows, columns, 'R');
    std::shuffle(any.begin(), any.end(), random);
    grids.push_back(std::make_unique<ProcessGrid>(rows, columns, any));
  }
  return grids;
}

/// Grids that leave some ranks out: the first half, the second, all but the first, one.
inline std::vector<std::unique_ptr<ProcessGrid>> part_grids() {
  std::vector<std::unique_ptr<ProcessGrid>> grids;
  const auto add = [&](int first, int count, bool upright) {
    if (count < 1) return;
    std::vector<int> some(static_cast<std::size_t>(count));
    std::iota(some.rbegin(), some.rend(), first);
    grids.push_back(upright ? std::make_unique<ProcessGrid>(count, 1, some)
                            : std::make_unique<ProcessGrid>(1, count, some));
  };
  if (ranks() < 2) return grids;
  add(0, ranks() / 2, true);
  add(ranks() / 2, ranks() - ranks() / 2, false);
  add(1, ranks() - 1, true);
  add(ranks() - 1, 1, true);
  return grids;
}

/// Cases to try: more for a night than for a build.
inline int rounds(int usual) {
  const char* const asked = std::getenv("PLAIT_SCALAPACK_ROUNDS");
  return asked == nullptr ? usual : std::atoi(asked);
}

}  // namespace plait::test
