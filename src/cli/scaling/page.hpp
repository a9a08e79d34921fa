#pragma once

#include "plait/base/timeline.hpp"
#include "plait/layout/sparse_rows.hpp"
#include "plait/mpi/agreed.hpp"
#include "plait/report/trace.hpp"
#include "plait/simd/row_block.hpp"
#include "plait/sinkhorn/course/course.hpp"
#include "plait/sinkhorn/scaling/scale.hpp"
#include "plait/sinkhorn/transport/transport.hpp"

#include "cli/host/report.hpp"
#include "cli/pictures/matrix_picture.hpp"

namespace plait::cli {

/// Numbers that are wanted and those that were reached, as many as a plot has room for: of several neighbours the
/// least, the mean and the largest, and the largest difference.
class SumsSketch {
 public:
  static constexpr Index most_bins = 200;

  struct Range {
    double least = 0;
    double mean = 0;
    double largest = 0;
  };
  struct Bin {
    Range wanted;
    Range reached;
    double off = 0;  // the largest |reached - wanted|
  };

  SumsSketch() = default;
  explicit SumsSketch(Index length);

  void add(Index i, double wanted, double reached);
  /// What all ranks have added, on each of them; each number was added by one of them. Collective over `context`.
  void unite(const mpi::Context& context);

  [[nodiscard]] Index length() const noexcept { return length_; }
  [[nodiscard]] Index bins() const noexcept { return bins_; }
  [[nodiscard]] bool is_thinned() const noexcept { return bins_ < length_; }
  [[nodiscard]] Index begin_of(Index bin) const { return (bin * length_ + bins_ - 1) / bins_; }
  [[nodiscard]] Index end_of(Index bin) const { return bin + 1 < bins_ ? begin_of(bin + 1) : length_; }
  [[nodiscard]] Bin operator[](Index bin) const;

 private:
  Index length_ = 0;
  Index bins_ = 0;
  std::vector<std::array<double, 5>> highest_;  // by bin, of -wanted, wanted, -reached, reached, the difference
  std::vector<std::array<double, 2>> sums_;     // of wanted and reached ones
};

/// What a page shows of a plan.
struct PlanSketch {
  MatrixPicture picture;
  SumsSketch rows;
  SumsSketch columns;
};

/// A picture of this rank's rows of a plan.
template <class T>
[[nodiscard]] MatrixPicture picture_of(matrix_view<const T> plan, const sinkhorn::CheckedMarginals& marginals) {
  MatrixPicture picture({marginals.all_rows, plan.columns()});
  for (Index i = 0; i < plan.rows(); ++i) {
    picture.add_row(marginals.first_row + i,
                    std::span<const T>(plan.data() + i * plan.leading_dimension(), at(plan.columns())),
                    [](T entry) { return simd::widened<double>(entry); });
  }
  return picture;
}
template <class T>
[[nodiscard]] MatrixPicture picture_of(const layout::SparseRows<T>& plan, const sinkhorn::CheckedMarginals& marginals) {
  MatrixPicture picture(plan.shape);
  for (Index i = 0; i < plan.rows(); ++i) {
    for (std::size_t k = 0; k < plan.columns_of(i).size(); ++k) {
      picture.add(marginals.first_row + i, Index{plan.columns_of(i)[k]}, static_cast<double>(plan.values_of(i)[k]));
    }
  }
  return picture;
}

/// Of a plan that lies on the ranks. Collective over `context`.
///
/// \param picture  of this rank's rows
/// \param sums     of the plan: columns of all ranks
[[nodiscard]] PlanSketch sketch_of(mpi::Context& context, MatrixPicture picture, const sinkhorn::MarginalSums& sums);

/// How the iterations of a job went on, for its page.
struct IterationLog {
  /// Iterations that are shown in a timeline: from the second on, as the first one tries out how to go on.
  static constexpr Index most_shown = 12;

  /// Errors after each iteration; a new vector where counting starts again: with a smaller epsilon, or in another
  /// domain.
  std::vector<std::vector<double>> errors;
  Index first = 0;                  // of the first vector, the number of its first iteration; 0 before there is any
  Nanoseconds shown_begin = never;  // times of those that are shown, on this rank's steady clock
  Nanoseconds shown_end = never;
  Index shown = 0;
  Nanoseconds began = never;  // the end of the first and of the last iteration
  Nanoseconds ended = never;

  void took(Index iteration, double error);
  [[nodiscard]] Index iterations() const noexcept;
  /// Of an iteration but the first one, with what is decided between them; 0 if there was one only.
  [[nodiscard]] double seconds_each() const noexcept;

 private:
  Index last_ = 0;
};

/// What the page of a job shows beside what all of them have.
struct PageFacts {
  sinkhorn::Outcome outcome;  // of the first problem that did not converge, or of the one with the largest error
  Index iterations = 0;       // of all stages, of the problem that has most
  Index swept_bytes = 0;      // that an iteration reads or writes of the matrix, on all ranks; 0: unknown
  std::vector<std::vector<std::string>> times;  // rows of what and how long
  IterationLog log;
  std::vector<sinkhorn::TransportStage> stages;
  std::vector<std::string> transports;           // which of several each stage is of; none: of one alone
  std::string next_stage = "a smaller epsilon";  // where errors begin again
  std::optional<PlanSketch> sketch;
  std::string plan = "the plan";                      // what the picture shows
  std::vector<std::string> sums{"row", "column"};     // of what there are sums
  std::vector<std::string> aims{"wanted", "wanted"};  // what these are compared with
  SumsSketch masses;                                  // of a barycentre
  std::pair<std::string, std::string> number;         // that the job is for, and what it is
  std::vector<std::string> figures;                   // beside those that all pages have
};

}  // namespace plait::cli
