// Sparse matrices as Matrix Market files.
#include <iterator>
#include <span>
#include <string>

#include <fmt/format.h>

#include "plait/base/error.hpp"
#include "plait/io/file.hpp"
#include "plait/io/matrix_market/matrix_market.hpp"
#include "plait/io/output_file.hpp"
#include "plait/mpi/agreed.hpp"
#include "plait/mpi/collectives.hpp"

namespace plait::io {

namespace {

// Calls f(row, column, value), from 0, for the entries of this rank that a file of that symmetry has.
template <class T, class F>
void for_each_written(const layout::SparseRows<T>& matrix, MatrixMarketSymmetry symmetry, F&& f) {
  for (Index i = 0; i < matrix.rows(); ++i) {
    const Index row = matrix.first_row + i;
    const auto columns = matrix.columns_of(i);
    const auto values = matrix.values_of(i);
    for (std::size_t k = 0; k < columns.size(); ++k) {
      if (symmetry != MatrixMarketSymmetry::general && Index{columns[k]} > row) break;
      f(row, Index{columns[k]}, values[k]);
    }
  }
}

}  // namespace

template <class T>
void write_matrix_market(mpi::Context& context, const std::string& path, const layout::SparseRows<T>& matrix,
                         MatrixMarketSymmetry symmetry) {
  mpi::agreed(context, [&] {
    const bool is_symmetric = symmetry == MatrixMarketSymmetry::symmetric;
    if (!is_symmetric && symmetry != MatrixMarketSymmetry::general) {
      throw ArgumentError("symmetry: skew-symmetric or hermitian, expected general or symmetric");
    }
    if (is_symmetric && matrix.shape.rows != matrix.shape.columns) {
      throw ArgumentError(fmt::format("symmetry: symmetric, but the matrix is {}, expected as many rows as columns",
                                      layout::to_string(matrix.shape)));
    }
  });
  constexpr const char* line = "{} {} {}\n";
  Index own_entries = 0;
  Index own_bytes = 0;
  for_each_written(matrix, symmetry, [&](Index row, Index column, T value) {
    ++own_entries;
    own_bytes += static_cast<Index>(fmt::formatted_size(line, row + 1, column + 1, value));
  });
  const Index all = mpi::all_reduce(context.comm(), own_entries, mpi::Operation::sum());
  auto text = mpi::agreed(context, [&] {
    return context.rank() != 0 ? std::string()
                               : fmt::format("%%MatrixMarket matrix coordinate real {}\n{} {} {}\n",
                                             symmetry == MatrixMarketSymmetry::general ? "general" : "symmetric",
                                             matrix.shape.rows, matrix.shape.columns, all);
  });
  own_bytes += static_cast<Index>(text.size());
  Index at = mpi::sum_below(context.comm(), own_bytes);
  OutputFile file(context, path, mpi::all_reduce(context.comm(), own_bytes, mpi::Operation::sum()));
  mpi::agreed(context, [&] {
    const auto write = [&] {
      file.write_at(at, std::as_bytes(std::span(text)));
      at += static_cast<Index>(text.size());
      text.clear();
    };
    for_each_written(matrix, symmetry, [&](Index row, Index column, T value) {
      fmt::format_to(std::back_inserter(text), line, row + 1, column + 1, value);
      if (static_cast<Index>(text.size()) >= piece_bytes) write();
    });
    write();
  });
  file.commit();
}

template void write_matrix_market(mpi::Context&, const std::string&, const layout::SparseRows<double>&,
                                  MatrixMarketSymmetry);
template void write_matrix_market(mpi::Context&, const std::string&, const layout::SparseRows<float>&,
                                  MatrixMarketSymmetry);

}  // namespace plait::io
