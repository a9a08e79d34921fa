#pragma once

#include <string>
#include <utility>
#include <vector>

#include "plait/mpi/context.hpp"
#include "plait/report/trace.hpp"
#include "plait/sinkhorn/transport/transport.hpp"

#include "cli/scaling/plan_sketch.hpp"
#include "cli/scaling/scaled_options.hpp"
#include "cli/scaling/scaled_report.hpp"

namespace plait::cli {

/// What the page of a job has beside what all pages of scaling have.
struct PageFacts {
  std::vector<std::vector<std::string>> rows;         // of the table of results: what, value
  std::vector<sinkhorn::TransportStage> stages;       // of transport
  std::string plan = "the plan";                      // what the picture shows
  std::vector<std::string> sums{"row", "column"};     // of what there are sums
  std::vector<std::string> aims{"wanted", "wanted"};  // what these sums are compared with: "optimal" ones that may miss
                                                      // the masses
  SumsSketch masses = {};                             // that were found; of a barycentre
  std::string next_stage = "a smaller epsilon";       // what begins where errors begin anew
  std::pair<std::string, std::string> headline = {};  // the number that the job is for, and what it is
  std::vector<std::string> figures = {};              // of the page, beside those that all have
};

/// A job of matrix scaling or transport as one HTML page that needs nothing else: how it converged, the plan as a
/// picture, which sums were wanted and reached, what came of it, and the timeline of some iterations.
///
/// \param headline  the first line of the summary
/// \param trace     of the job
[[nodiscard]] std::string scaled_page(const mpi::Context& context, const ScaledOptions& options,
                                      const std::string& headline, const ScaledOutcome& outcome, const PageFacts& facts,
                                      const report::Trace& trace);

}  // namespace plait::cli
