#include "tests/mpi/redistribute/random_case.hpp"

#include <algorithm>
#include <numeric>

namespace plait::test {

namespace {

using layout::GridOrder;
using layout::Layout;
using layout::Owners;
using layout::Shape;

StorageOrder random_storage(Random& random) {
  return uniform(random, 0, 1) == 0 ? StorageOrder::column_major : StorageOrder::row_major;
}

// A grid of p × q ranks with p·q <= ranks: numbered by rows or columns, or any ranks in any order. Or one of any size,
// on which ranks stand at several positions.
Owners random_grid(Random& random, int ranks) {
  if (uniform(random, 0, 4) == 0) {
    const Index rows = uniform(random, 1, 4);
    const Index columns = uniform(random, 1, 4);
    std::vector<int> several(static_cast<std::size_t>(rows * columns));
    for (int& rank : several) rank = static_cast<int>(uniform(random, 0, ranks - 1));
    return Owners::listed(rows, columns, several);
  }
  const Index rows = uniform(random, 1, ranks);
  const Index columns = uniform(random, 1, ranks / rows);
  if (uniform(random, 0, 2) == 0) {
    std::vector<int> any(static_cast<std::size_t>(ranks));
    std::iota(any.begin(), any.end(), 0);
    std::shuffle(any.begin(), any.end(), random);
    any.resize(static_cast<std::size_t>(rows * columns));
    return Owners::listed(rows, columns, any);
  }
  const auto first = static_cast<int>(uniform(random, 0, ranks - rows * columns));
  return Owners::grid(rows, columns, uniform(random, 0, 1) == 0 ? GridOrder::row : GridOrder::column, first);
}

std::vector<Index> random_splits(Random& random, Index extent) {
  std::vector<Index> splits{0, extent};
  for (Index cuts = uniform(random, 0, 6); cuts > 0; --cuts) splits.push_back(uniform(random, 0, extent));
  std::sort(splits.begin(), splits.end());
  return splits;
}

}  // namespace

Layout random_layout(Random& random, Shape shape, int ranks) {
  switch (uniform(random, 0, 5)) {
    case 0: return Layout::rows(shape, static_cast<int>(uniform(random, 1, ranks)), random_storage(random));
    case 1: return Layout::columns(shape, static_cast<int>(uniform(random, 1, ranks)), random_storage(random));
    case 2: {
      const Index rows = uniform(random, 1, ranks);
      return Layout::blocks(shape, rows, uniform(random, 1, ranks / rows), GridOrder::column, random_storage(random));
    }
    case 3: {
      const auto rows = random_splits(random, shape.rows);
      const auto columns = random_splits(random, shape.columns);
      std::vector<int> owners((rows.size() - 1) * (columns.size() - 1));
      for (int& owner : owners) owner = static_cast<int>(uniform(random, 0, ranks - 1));
      return Layout::custom(rows, columns, owners, random_storage(random));
    }
    case 4: {  // a submatrix of a larger block-cyclic matrix
      const Index row = uniform(random, 0, 20);
      const Index column = uniform(random, 0, 20);
      const Shape whole{row + shape.rows + uniform(random, 0, 20), column + shape.columns + uniform(random, 0, 20)};
      Owners grid = random_grid(random, ranks);
      const Index source_row = uniform(random, 0, grid.rows() - 1);
      const Index source_column = uniform(random, 0, grid.columns() - 1);
      return Layout::block_cyclic(whole, uniform(random, 1, 9), uniform(random, 1, 9), std::move(grid), source_row,
                                  source_column, random_storage(random))
          .submatrix(row, column, shape);
    }
    default: {
      Owners grid = random_grid(random, ranks);
      const Index source_row = uniform(random, 0, grid.rows() - 1);
      const Index source_column = uniform(random, 0, grid.columns() - 1);
      return Layout::block_cyclic(shape, uniform(random, 1, 40), uniform(random, 1, 40), std::move(grid), source_row,
                                  source_column, random_storage(random));
    }
  }
}

}  // namespace plait::test
