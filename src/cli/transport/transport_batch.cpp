#include "cli/transport/transport_batch.hpp"

#include <algorithm>
#include <span>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "plait/mpi/agreed.hpp"
#include "plait/sinkhorn/transport/transport_batch.hpp"

#include "cli/job/joint_stopwatch.hpp"
#include "cli/job/json_values.hpp"
#include "cli/scaling/batch_report.hpp"
#include "cli/scaling/scaled_job.hpp"

namespace plait::cli {

namespace {

/// What the sums of the plans are off by, whose rows come by `for_each_row(found, visit)`.
template <class A, class ForEachRow>
std::vector<sinkhorn::MarginalErrors> errors_of_plans(mpi::Context& context,
                                                      std::span<const sinkhorn::CheckedMarginals> wanted,
                                                      std::span<const sinkhorn::Transport<A>> found,
                                                      const ForEachRow& for_each_row) {
  std::vector<sinkhorn::MarginalSums> sums;
  mpi::agreed(context, [&] {
    sums.reserve(found.size());
    for (std::size_t k = 0; k < found.size(); ++k) {
      sinkhorn::MarginalSums& of_plan = sums.emplace_back(wanted[k]);
      for_each_row(found[k], [&](Index i, std::span<const A> row) { of_plan.add(i, row); });
    }
  });
  return sinkhorn::errors_of_each(context, sums);
}

/// What comes after reading.
///
/// \param all           since the job began
/// \param solve         called with the options of the transports, returns them all
/// \param for_each_row  called with one of them, and what is to see the rows of its plan
template <class A, class Solve, class ForEachRow>
void transport_all_and_tell(mpi::Context& context, const TransportJobOptions& options, const ScaledJob& job,
                            std::span<const sinkhorn::Marginals> marginals, bool is_transposed, Meter& meter,
                            const JointStopwatch& all, BatchOutcome& result, const Solve& solve,
                            const ForEachRow& for_each_row) {
  result.read_seconds = all.seconds();
  meter.stage(fmt::format("transporting {} pairs of masses", marginals.size()), 0, 0);
  const JointStopwatch iterating(context);
  const sinkhorn::TransportOptions how{
      .epsilon = options.epsilon,
      .domain = options.method,
      .first_epsilon = options.first_epsilon,
      .limits = limits_of(context, options, job.precision, meter, result.log),
      .rho = is_transposed ? sinkhorn::Rho{options.rho.columns, options.rho.rows} : options.rho,
      .over_relaxation = options.over_relaxation};
  const std::vector<sinkhorn::Transport<A>> transports = solve(how);
  result.iterate_seconds = iterating.seconds();

  const JointStopwatch writing(context);
  const auto wanted = sinkhorn::wanted_masses_of_each<A>(context, marginals, how.rho, transports);
  const auto errors = errors_of_plans<A>(context, wanted, transports, for_each_row);
  std::vector<std::vector<double>> f;
  std::vector<std::vector<double>> g;
  for (std::size_t k = 0; k < transports.size(); ++k) {
    const auto& found = transports[k];
    ProblemOutcome problem{found.outcome, errors[k]};
    for (const auto& stage : found.stages) problem.iterations += stage.iterations;
    problem.cost = found.cost;
    problem.dual = found.dual;
    problem.gap = found.gap();
    problem.stages = found.stages;
    result.iterations = std::max(result.iterations, problem.iterations);
    result.problems.push_back(std::move(problem));
    f.emplace_back(found.f.begin(), found.f.end());
    g.emplace_back(found.g.begin(), found.g.end());
    sinkhorn::CostOffsets::add(f.back(), found.offsets.rows);
    sinkhorn::CostOffsets::add(g.back(), found.offsets.columns);
  }
  expect_plans(context, options, result, is_transposed);
  write_vectors_of_each(context, options, f, g, is_transposed);
  result.write_seconds = writing.seconds();
  result.seconds = all.seconds();
}

template <class T, class A>
BatchOutcome transported_batch(mpi::Context& context, const TransportJobOptions& options, const ScaledJob& job,
                               const MarginalFiles& files, Meter& meter, NarrowedEntries& narrowed) {
  BatchOutcome result;
  result.precision = job.precision;
  const JointStopwatch all(context);
  auto matrix = read_and_tell<T>(context, options.input, job.file, meter);
  narrowed = matrix.narrowed();
  const matrix_view<const T> rows = matrix.rows();
  const MarginalBatch given(context, files, job.file.shape, matrix.is_transposed());
  const auto marginals = given.marginals();
  transport_all_and_tell<A>(
      context, options, job, marginals, matrix.is_transposed(), meter, all, result,
      [&](const sinkhorn::TransportOptions& how) {
        return sinkhorn::transport_batch<T, A>(context, rows, marginals, how);
      },
      [&](const sinkhorn::Transport<A>& found, const auto& visit) {
        sinkhorn::for_each_plan_row<T, A>(rows, options.epsilon, found.f, found.g, visit, found.offsets);
      });
  const bool are_factors = std::ranges::all_of(result.problems, [](const ProblemOutcome& problem) {
    return problem.stages.back().domain == sinkhorn::Domain::factors;
  });
  result.swept_bytes = layout::elements(job.file.shape) * (are_factors ? Index{sizeof(A)} : Index{sizeof(T)});
  return result;
}

template <class A>
BatchOutcome transported_points_batch(mpi::Context& context, const TransportJobOptions& options, const PointsJob& job,
                                      const MarginalFiles& files, Meter& meter) {
  BatchOutcome result;
  result.precision = job.precision;
  const JointStopwatch all(context);
  const PointsRead<A> points(context, options, job, meter);
  const sinkhorn::PointClouds<A> clouds = points.clouds();
  const MarginalBatch given(context, files, job.file.shape, false);
  const auto marginals = given.marginals();
  transport_all_and_tell<A>(
      context, options, job, marginals, false, meter, all, result,
      [&](const sinkhorn::TransportOptions& how) {
        return sinkhorn::transport_batch<A>(context, clouds, marginals, how);
      },
      [&](const sinkhorn::Transport<A>& found, const auto& visit) {
        sinkhorn::for_each_plan_row<A>(clouds, options.epsilon, found.f, found.g, visit);
      });
  return result;
}

nlohmann::ordered_json batch_json(const mpi::Context& context, const TransportJobOptions& options, const ScaledJob& job,
                                  const BatchOutcome& outcome) {
  auto json = scaled_json(context, "transport", options, job.file, job.memory, outcome);
  json["epsilon"] = options.epsilon;
  json["rho"] = {{"rows", number_or_null(options.rho.rows)}, {"columns", number_or_null(options.rho.columns)}};
  json["row_potentials"] = name_or_null(options.of_rows);
  json["column_potentials"] = name_or_null(options.of_columns);
  json["problems"] = problems_json(outcome, true);
  tell_points(json, options);
  return json;
}

template <class Work>
void carry_out_batch(mpi::Context& context, const TransportJobOptions& options, const ScaledJob& job, Index problems,
                     const Work& work) {
  carry_out(
      context, options, work, [&](const BatchOutcome& outcome) { return batch_json(context, options, job, outcome); },
      [&](const BatchOutcome& outcome) {
        return fmt::format("P = exp((f + g - C) / epsilon) of {} pairs of masses   {}, {}, epsilon {}\n{}{}", problems,
                           costs_text(options, job), name(job.precision), options.epsilon,
                           problems_summary(outcome, true), scaled_summary(options, job.file, outcome));
      },
      [&](const BatchOutcome& outcome) {
        PageFacts page = problems_facts(outcome, true);
        page.rows.insert(page.rows.begin(), {"epsilon", fmt::format("{}", options.epsilon)});
        page.next_stage = "another problem, or a smaller epsilon";
        return page;
      });
}

}  // namespace

void run_transport_batch(mpi::Context& context, const TransportJobOptions& options, const ScaledJob& job,
                         const MarginalFiles& marginals) {
  const auto work = [&](Meter& meter) {
    return warn_of_underflow(context, options.input, [&](NarrowedEntries& narrowed) {
      return with_numbers_of(job.precision, [&]<class T, class A>() {
        return transported_batch<T, A>(context, options, job, marginals, meter, narrowed);
      });
    });
  };
  carry_out_batch(context, options, job, marginals.problems(), work);
}

void run_points_batch(mpi::Context& context, const TransportJobOptions& options, const PointsJob& job,
                      const MarginalFiles& marginals) {
  const TransportJobOptions told = with_points_as_input(options);
  const auto work = [&](Meter& meter) {
    return job.precision == Precision::f32 ? transported_points_batch<float>(context, options, job, marginals, meter)
                                           : transported_points_batch<double>(context, options, job, marginals, meter);
  };
  carry_out_batch(context, told, job, marginals.problems(), work);
}

}  // namespace plait::cli
