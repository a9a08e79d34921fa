#include "shim/scalapack/copy.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <complex>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "plait/mpi/collectives.hpp"

#include "shim/scalapack/blacs.hpp"
#include "shim/scalapack/execution.hpp"
#include "shim/scalapack/grid.hpp"
#include "shim/scalapack/matrix.hpp"

namespace plait::shim::scalapack {

namespace {

/// One of the two matrices, as this process is given it.
struct CopyOperand {
  Descriptor descriptor;
  GridInfo grid;
  Submatrix part;
};

template <class T>
CopyOperand operand(const Given<T>& given) {
  const Descriptor d = descriptor(given.desc);
  return {d, grid_info(d.context), submatrix(d, given.i, given.j)};
}

/// What a process tells of a matrix; only `member` counts where it is 0. Not the descriptor's type, which the real
/// routine does not look at: some programs leave it as it was.
struct Announcement {
  int member = 0;
  int grid_rows = 0;
  int grid_columns = 0;
  int my_row = 0;
  int my_column = 0;
  int leading_dimension_fits = 1;
  Submatrix part{};
};

Announcement announcement(const CopyOperand& a, int m, int n) {
  if (!a.grid.member()) return {};
  const bool known = why_not(a.part, m, n, a.grid.rows, a.grid.columns).empty();
  return {1,
          a.grid.rows,
          a.grid.columns,
          a.grid.my_row,
          a.grid.my_column,
          known && !leading_dimension_fits(a.descriptor, a.grid) ? 0 : 1,
          a.part};
}

/// A matrix as all processes know it.
struct KnownMatrix {
  Submatrix part;
  ProcessMap map;
};

void expect_servable(const Submatrix& part, int m, int n, int grid_rows, int grid_columns) {
  const std::string why = why_not(part, m, n, grid_rows, grid_columns);
  if (!why.empty()) throw PassOn{why};
}

template <class Get>
KnownMatrix gathered(const std::vector<std::array<Announcement, 2>>& all, Get&& of, int m, int n) {
  KnownMatrix matrix{};
  const Announcement* first = nullptr;
  for (std::size_t rank = 0; rank < all.size(); ++rank) {
    const Announcement& one = of(all[rank]);
    if (one.member == 0) continue;
    if (first == nullptr) {
      first = &one;
      expect_servable(one.part, m, n, one.grid_rows, one.grid_columns);
      matrix = {one.part, ProcessMap(one.grid_rows, one.grid_columns)};
    }
    const bool alike = one.part == first->part && one.leading_dimension_fits != 0;
    if (!alike || !matrix.map.place(one.my_row, one.my_column, static_cast<int>(rank))) throw PassOn{refused_arguments};
  }
  if (first == nullptr || !matrix.map.complete()) throw PassOn{refused_arguments};
  return matrix;
}

[[noreturn]] void refuse(const std::string& why) {
  std::fprintf(stderr, "??MR2D:%s\n", why.c_str());
  std::exit(1);
}

// What the real routine finds wrong on a process by itself. Where others have found nothing, they would wait for this
// one for ever if it passed its call on, so it ends the program here, with the messages of the real routine, which has
// none for empty blocks and divides by 0.
void expect_accepted(const CopyOperand& a, int m, int n) {
  const auto& [d, grid, part] = a;
  const auto is_first = [](int place, int places) { return place >= 0 && place < places; };
  if (!is_first(d.first_row, grid.rows) || !is_first(d.first_column, grid.columns)) {
    refuse("Bad first processor coordinates");
  }
  if (reaches_out(part.row, m, d.rows) || reaches_out(part.column, n, d.columns)) {
    refuse(fmt::format("Bad submatrix:i={},j={},m={},n={},M={},N={}", part.row, part.column, m, n, d.rows, d.columns));
  }
  if (d.block_rows == 0 || d.block_columns == 0) {
    end_program(fmt::format("p?gemr2d, p?trmr2d: a descriptor has blocks of {} x {}, expected at least 1 x 1",
                            d.block_rows, d.block_columns));
  }
  if (!leading_dimension_fits(d, grid)) {
    refuse(fmt::format("bad lda arg:row={},m={},p={},nbrow={},lda={},sprow={}", grid.my_row, d.rows, grid.rows,
                       d.block_rows, d.leading_dimension, d.first_row));
  }
}

CachedPlan& plan_of(const CopyCall& call, const Submatrix& a, const ProcessMap& a_map, const Submatrix& b,
                    const ProcessMap& b_map, Grid& all) {
  PlanCache::Key key{PlanCache::copy, call.m, call.n};
  append(key, call.part);
  append(key, a.numbers());
  append(key, b.numbers());
  append(key, a_map);
  append(key, b_map);
  return planned(all.team(), std::move(key), [&] {
    return redistribute::MatrixPair{layout_of(a, call.m, call.n, a_map), layout_of(b, call.m, call.n, b_map),
                                    redistribute::Op::identity, call.part};
  });
}

/// All processes are in both grids, and know all that there is to know.
CachedPlan& plan_of_members(const CopyCall& call, const CopyOperand& a, const CopyOperand& b, Grid& all) {
  for (const CopyOperand* one : {&a, &b}) {
    // Sizes and blocks below 0 are not refused everywhere.
    if (std::min({call.m, call.n, one->part.block_rows, one->part.block_columns}) < 0) throw PassOn{refused_arguments};
    expect_accepted(*one, call.m, call.n);
  }
  const ProcessMap& a_map = all.map_of(grid_of(a.descriptor.context, a.grid));
  const ProcessMap& b_map = all.map_of(grid_of(b.descriptor.context, b.grid));
  for (const ProcessMap* map : {&a_map, &b_map}) {
    if (!map->complete()) throw PassOn{"a grid with processes that are not in the union context"};
  }
  return plan_of(call, a.part, a_map, b.part, b_map, all);
}

/// Some processes are not in one of the grids, or in neither.
CachedPlan& plan_with_outsiders(const CopyCall& call, const CopyOperand& a, const CopyOperand& b, Grid& all) {
  const std::array<Announcement, 2> own{announcement(a, call.m, call.n), announcement(b, call.m, call.n)};
  std::vector<std::array<Announcement, 2>> told(static_cast<std::size_t>(all.context().size()));
  mpi::all_gather_bytes(all.context().comm(), std::as_bytes(std::span(&own, 1)),
                        std::as_writable_bytes(std::span(told)));
  const KnownMatrix known_a = gathered(told, [](const auto& one) -> auto& { return one[0]; }, call.m, call.n);
  const KnownMatrix known_b = gathered(told, [](const auto& one) -> auto& { return one[1]; }, call.m, call.n);
  return plan_of(call, known_a.part, known_a.map, known_b.part, known_b.map, all);
}

template <class T>
void copy_elements(CachedPlan& plan, int rank, const CopyCall& call, const CopyOperand& a, const CopyOperand& b) {
  execute_on<T>(plan, rank, static_cast<const T*>(call.a.array), a.descriptor.leading_dimension,
                static_cast<T*>(call.b.array), b.descriptor.leading_dimension, [&](const Tiles<T>& tiles) {
                  return redistribute::Operands(T{1}, tiles.source(), T{0}, tiles.target());
                });
}

}  // namespace

void copy(const CopyCall& call, Index element_bytes) {
  if (call.m == 0 || call.n == 0) return;
  const GridInfo info = grid_info(call.union_context);
  if (!info.member()) throw PassOn{refused_arguments};
  const CopyOperand a = operand(call.a);
  const CopyOperand b = operand(call.b);
  Grid& all = grid_of(call.union_context, info);
  // Whoever is in a grid sees whether it is as large as the union, so all processes answer alike.
  const auto has_all = [&](const CopyOperand& one) { return one.grid.member() && one.grid.size() == info.size(); };
  CachedPlan& plan = has_all(a) && has_all(b) ? plan_of_members(call, a, b, all) : plan_with_outsiders(call, a, b, all);
  const int rank = all.context().rank();
  switch (element_bytes) {
    case 4: return copy_elements<std::uint32_t>(plan, rank, call, a, b);
    case 8: return copy_elements<std::uint64_t>(plan, rank, call, a, b);
    default: return copy_elements<std::complex<double>>(plan, rank, call, a, b);
  }
}

redistribute::Trapezoid trmr2d_part(char uplo, char diag, int m, int n) {
  const auto is = [](char given, char letter) { return std::toupper(static_cast<unsigned char>(given)) == letter; };
  const Index excess_rows = std::max(Index{m} - n, Index{0});
  const Index excess_columns = std::max(Index{n} - m, Index{0});
  using enum redistribute::Trapezoid::Side;
  if (is(uplo, 'U')) return {upper, excess_rows - (is(diag, 'N') ? 0 : 1)};
  return {lower, (is(diag, 'U') ? 1 : 0) - excess_columns};
}

}  // namespace plait::shim::scalapack
