#pragma once

#include <string>
#include <vector>

#include "plait/layout/shape.hpp"
#include "plait/mpi/context.hpp"
#include "plait/sinkhorn/marginals/axis_names.hpp"
#include "plait/sinkhorn/marginals/marginals.hpp"

#include "cli/scaling/scaled_options.hpp"

namespace plait::cli {

/// How many problems the files of --rows and --cols tell: as many as one of them has columns, if it is a matrix with a
/// row for each row (column) of the one that is scaled; 1 of vectors. Collective over `context`.
///
/// \throws ArgumentError  on every rank: both have several columns, and not as many; a matrix of another shape
[[nodiscard]] Index problems_of(mpi::Context& context, const ScaledOptions& options, layout::Shape matrix);

/// The marginals of several problems, of which one file may be a vector that all share, and one may not be there.
class MarginalBatch {
 public:
  /// Collective over `context`.
  ///
  /// \param matrix  the shape of the one in the file; what is scaled may be its transpose
  MarginalBatch(mpi::Context& context, const ScaledOptions& options, Index problems, layout::Shape matrix,
                bool is_transposed);

  /// Of each problem; valid as long as this lives.
  [[nodiscard]] std::vector<sinkhorn::Marginals> marginals() const;

 private:
  Index problems_;
  std::vector<std::vector<double>> own_;      // of this rank's rows; of each problem, of all, or none
  std::vector<std::vector<double>> columns_;  // of all columns; likewise
  sinkhorn::AxisNames names_;
};

}  // namespace plait::cli
