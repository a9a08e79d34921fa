#pragma once

#include "plait/sinkhorn/marginals/marginals.hpp"

#include "cli/host/job.hpp"
#include "cli/scaling/options.hpp"

namespace plait::cli {

/// What rows and columns are to sum up to: the files of --rows and --columns. A file is a vector, or a matrix with a
/// column for each of several problems and a row for each row (column) of the matrix that is scaled; one side may be
/// the same for all problems, or not be there.
class MarginalFiles {
 public:
  MarginalFiles() = default;
  /// Reads the headers, but those of images, whose masses they are then. Collective over `context`.
  ///
  /// \throws ArgumentError  on every rank: a file of another length, or both have several columns, and not as many
  MarginalFiles(mpi::Context& context, const ScalingOptions& options, layout::Shape matrix);

  [[nodiscard]] Index problems() const noexcept { return problems_; }
  /// \throws ArgumentError  there are several problems, and this option, which is of one, is given
  void expect_one_for(const std::string& option, const std::string& expected) const;
  /// The same of those that all jobs have: the plan, a start, a checkpoint.
  void expect_one_for_all(const ScalingOptions& options, const std::string& checkpoint) const;

  /// Reads the files. Collective.
  ///
  /// \param own_rows  of this rank
  void read(Work& work, Index own_rows);
  /// Where neither side is given: masses that are alike, and 1 in all.
  void make_uniform(Index own_rows);

  /// Of each problem; valid as long as this lives.
  [[nodiscard]] std::vector<sinkhorn::Marginals> of_each() const;
  /// Of the only problem: of all rows, instead of this rank's.
  [[nodiscard]] sinkhorn::Marginals of_all_rows() const;

 private:
  using Vectors = std::vector<std::vector<double>>;  // of each problem, of all, or none
  struct Side {
    const char* option = "";  // "--rows"
    InputFile file = {};      // may be none
    Index length = 0;         // expected
    bool is_of_all = false;   // the file has a column for each problem
    bool is_image = false;    // of the only problem
  };

  [[nodiscard]] static Side side(mpi::Context& context, const char* option, const std::string& path, Index length);
  [[nodiscard]] static Index problems_of(const Side& side) { return side.is_of_all ? side.file.shape.columns : 1; }

  /// Those of the only problem, on every rank; images as shares of their sums, unless these may differ. Collective.
  [[nodiscard]] std::vector<double> read_vector(Work& work, const Side& side) const;

  bool is_balanced_ = true;
  Side rows_;
  Side columns_;
  Index problems_ = 1;
  std::vector<double> of_all_rows_;  // where there is one vector
  Vectors of_own_rows_;
  Vectors of_columns_;
};

}  // namespace plait::cli
