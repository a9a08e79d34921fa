#pragma once

#include "plait/base/timeline.hpp"
#include "plait/report/trace.hpp"
#include "plait/sinkhorn/course/course.hpp"
#include "plait/sinkhorn/transport/transport.hpp"

#include "cli/host/report.hpp"
#include "cli/scaling/plan_sketch.hpp"

namespace plait::cli {

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

/// What the page of a job shows: what was found, and words for it.
struct PageFacts {
  std::string subject;        // of the title: the input
  std::string headline;       // the first line of the summary
  sinkhorn::Outcome outcome;  // of the first problem that did not converge, or of the one with the largest error
  Index iterations = 0;       // of all stages, of the problem that has most
  double tolerance = 0;
  bool is_resumed = false;
  std::string seconds;    // in all, in words
  Index swept_bytes = 0;  // that an iteration reads or writes of the matrix, on all ranks; 0: unknown
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

/// Draws what the page of a job has: how it converged, the plan as a picture, which sums were wanted and reached, where
/// the time went, and the timeline of some iterations.
void draw_page(Report& report, const mpi::Context& context, const PageFacts& facts, const report::Trace& trace);

}  // namespace plait::cli
