#pragma once

#include <optional>
#include <string>
#include <vector>

#include "plait/io/file_kind.hpp"
#include "plait/layout/shape.hpp"
#include "plait/mpi/context.hpp"
#include "plait/sinkhorn/marginals/axis_names.hpp"
#include "plait/sinkhorn/marginals/marginals.hpp"

#include "cli/scaling/scaled_options.hpp"

namespace plait::cli {

/// The files of --rows and --columns, whose headers are read once: a file is a vector, or a matrix with a column for
/// each of several problems and a row for each row (column) of the matrix that is scaled.
class MarginalFiles {
 public:
  struct Side {
    std::string path;                   // empty: there is none
    layout::Shape shape;                // n x 1 of an array of one dimension
    std::optional<io::MatrixFile> all;  // of several problems
  };

  /// Collective over `context`.
  ///
  /// \throws ArgumentError  on every rank: both have several columns, and not as many; a matrix of another shape
  MarginalFiles(mpi::Context& context, const ScaledOptions& options, layout::Shape matrix);

  [[nodiscard]] Index problems() const noexcept { return problems_; }
  [[nodiscard]] const Side& rows() const noexcept { return rows_; }
  [[nodiscard]] const Side& columns() const noexcept { return columns_; }

 private:
  Side rows_;
  Side columns_;
  Index problems_;
};

/// The marginals of several problems, of which one file may be a vector that all share, and one may not be there.
class MarginalBatch {
 public:
  /// Collective over `context`.
  ///
  /// \param matrix  the shape of the one in the file; what is scaled may be its transpose
  /// \throws ArgumentError  on every rank: a vector of another length
  MarginalBatch(mpi::Context& context, const MarginalFiles& files, layout::Shape matrix, bool is_transposed);

  /// Of each problem; valid as long as this lives.
  [[nodiscard]] std::vector<sinkhorn::Marginals> marginals() const;

 private:
  Index problems_;
  std::vector<std::vector<double>> own_;      // of this rank's rows; of each problem, of all, or none
  std::vector<std::vector<double>> columns_;  // of all columns; likewise
  sinkhorn::AxisNames names_;
};

}  // namespace plait::cli
