#pragma once

#include "cli/host/job.hpp"

namespace plait::cli {

/// A file with a row for each vertex, of which the rows go to where new parts have them.
class MovedRows {
 public:
  /// Declares --move, --moved and --moved-from.
  /// \param before  how the rows of --move follow each other, in words
  void declare(Options& options, const std::string& before);
  /// \throws UsageError  one of them lacks another one
  void check() const;
  [[nodiscard]] bool are_wanted() const noexcept { return bool{input_}; }

  /// \throws FileError  on every rank: what belongs to a vertex does not lie together
  void prepare(Work& work) const;
  /// \throws ArgumentError  on every rank: there are not as many rows as vertices
  void expect_rows(Work& work, Index vertices) const;
  /// Reads, moves and writes the rows. Collective.
  /// \param before  the part of each vertex by which rows are sorted so far; empty: by the numbers of vertices
  /// \throws Error  on every rank
  void move(Work& work, std::span<const int> before, std::span<const int> after);
  void report(Report& report) const;

 private:
  InputFile input_;
  std::string output_, rows_path_;
  Index moved_ = 0;  // rows that are elsewhere
  double seconds_ = 0;
};

/// Writes a number for each vertex on rank 0, as the name of the file says. Collective.
void write_numbers(Work& work, const std::string& path, std::span<const int> numbers);

}  // namespace plait::cli
