#pragma once

#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "plait/base/index.hpp"
#include "plait/mpi/context.hpp"
#include "plait/sinkhorn/course/status.hpp"
#include "plait/sinkhorn/scaling/plan.hpp"
#include "plait/sinkhorn/transport/transport.hpp"

#include "cli/scaling/scaled_options.hpp"
#include "cli/scaling/scaled_page.hpp"
#include "cli/scaling/scaled_report.hpp"

namespace plait::cli {

/// One of several problems that share a matrix.
struct ProblemOutcome {
  sinkhorn::Outcome outcome;
  sinkhorn::MarginalErrors check;
  Index iterations = 0;  // of all stages
  double cost = 0;       // of transport
  double dual = 0;       //
  double gap = 0;        //
  std::vector<sinkhorn::TransportStage> stages = {};
};

/// What is told of all of them: the status is that of the first one that did not converge, sums are those that are off
/// by most, the mass is that of all.
struct BatchOutcome : ScaledOutcome {
  std::vector<ProblemOutcome> problems;
};

/// Looks at all of them, and fills in what is told of all. Collective over `context`.
///
/// \throws Error  on every rank, as there is nothing to be written: as `expect_plan`, with the number of the problem
void expect_plans(mpi::Context& context, const ScaledOptions& options, BatchOutcome& result, bool is_transposed);

/// Writes the vectors of all problems where the options say: `own` of this rank's rows as n x B, `all` of the columns
/// as B x n; if the matrix is scaled as its transpose, the other way round. Collective over `context`.
void write_vectors_of_each(mpi::Context& context, const ScaledOptions& options,
                           const std::vector<std::vector<double>>& own, const std::vector<std::vector<double>>& all,
                           bool is_transposed);

/// \throws ArgumentError  there are several problems, and an option is given that is of one only
void expect_none_of_one(const ScaledOptions& options, Index problems);

/// "problems" for the JSON; the costs of transport, if that is what it is.
[[nodiscard]] nlohmann::ordered_json problems_json(const BatchOutcome& outcome, bool is_transport);

/// Lines of the summary, and rows of the page, that tell of the problems.
[[nodiscard]] std::string problems_summary(const BatchOutcome& outcome, bool is_transport);
[[nodiscard]] PageFacts problems_facts(const BatchOutcome& outcome, bool is_transport);

}  // namespace plait::cli
