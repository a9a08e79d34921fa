#include "cli/sinkhorn/sinkhorn_batch.hpp"

#include <utility>

#include <fmt/format.h>

#include "plait/mpi/agreed.hpp"
#include "plait/sinkhorn/scaling/scale_batch.hpp"

#include "cli/job/joint_stopwatch.hpp"
#include "cli/scaling/batch_report.hpp"
#include "cli/scaling/scaled_job.hpp"
#include "cli/sinkhorn/sinkhorn_report.hpp"

namespace plait::cli {

namespace {

template <class T, class A>
BatchOutcome scaled_batch(mpi::Context& context, const SinkhornOptions& options, const ScaledJob& job,
                          const MarginalFiles& files, Meter& meter, NarrowedEntries& narrowed) {
  BatchOutcome result;
  result.precision = job.precision;
  const JointStopwatch all(context);
  auto matrix = read_and_tell<T>(context, options.input, job.file, meter);
  narrowed = matrix.narrowed();
  const matrix_view<const T> rows = matrix.rows();
  const MarginalBatch given(context, files, job.file.shape, matrix.is_transposed());
  const auto marginals = given.marginals();
  result.read_seconds = all.seconds();

  meter.stage(fmt::format("scaling to {} marginals", files.problems()), 0, 0);
  const JointStopwatch iterating(context);
  const auto scalings = sinkhorn::scale_batch<T, A>(context, rows, marginals,
                                                    limits_of(context, options, job.precision, meter, result.log));
  result.iterate_seconds = iterating.seconds();

  const JointStopwatch writing(context);
  std::vector<std::vector<double>> u;
  std::vector<std::vector<double>> v;
  const auto checked = sinkhorn::checked_marginals_of_each(context, rows.rows(), rows.columns(), marginals);
  const auto errors = sinkhorn::marginal_errors_of_each<T, A>(context, rows, scalings, checked);
  for (std::size_t k = 0; k < scalings.size(); ++k) {
    const auto& scaling = scalings[k];
    result.problems.push_back({scaling.outcome, errors[k], scaling.outcome.iterations});
    result.iterations = std::max(result.iterations, scaling.outcome.iterations);
    u.emplace_back(scaling.u.begin(), scaling.u.end());
    v.emplace_back(scaling.v.begin(), scaling.v.end());
  }
  expect_plans(context, options, result, matrix.is_transposed());
  result.swept_bytes = layout::elements(job.file.shape) * Index{sizeof(T)};
  write_vectors_of_each(context, options, u, v, matrix.is_transposed());
  result.write_seconds = writing.seconds();
  result.seconds = all.seconds();
  return result;
}

}  // namespace

void run_sinkhorn_batch(mpi::Context& context, const SinkhornOptions& options, const MarginalFiles& files) {
  const Index problems = files.problems();
  mpi::agreed(context, [&] {
    expect_none_of_one(options, problems);
    const auto refuse = [problems](const std::string& option) {
      throw ArgumentError(
          fmt::format("{} is given, but the marginals have {} columns, each a problem; expected one column, or "
                      "--method scaling with whole rows",
                      option, problems));
    };
    if (options.method != ScalingMethod::scaling) refuse(fmt::format("--method {}", name(options.method)));
    if (options.grid.is_given()) refuse("--grid");
    if (options.over_relaxation != 1) refuse("--over-relaxation");
  });
  const ScaledJob job = prepared(context, options, [](Precision) { return Index{0}; });
  const auto work = [&](Meter& meter) {
    return warn_of_underflow(context, options.input, [&](NarrowedEntries& narrowed) {
      return with_elements_of(job.precision, [&]<class T, class A>() {
        return scaled_batch<T, A>(context, options, job, files, meter, narrowed);
      });
    });
  };
  carry_out(
      context, options, work,
      [&](const BatchOutcome& outcome) {
        auto json = sinkhorn_json(context, options, job, outcome);
        json["problems"] = problems_json(outcome, false);
        return json;
      },
      [&](const BatchOutcome& outcome) {
        return fmt::format("P = diag(u) K diag(v) of {} marginals   K is {}, {}, {}\n{}{}", problems,
                           layout::to_string(job.file.shape), name(job.precision), name(options.method),
                           problems_summary(outcome, false), scaled_summary(options, job.file, outcome));
      },
      [](const BatchOutcome& outcome) { return problems_facts(outcome, false); });
}

}  // namespace plait::cli
