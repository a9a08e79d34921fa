#include "cli/sinkhorn/sinkhorn.hpp"

#include <optional>
#include <type_traits>
#include <utility>

#include <fmt/format.h>

#include "plait/mpi/agreed.hpp"
#include "plait/sinkhorn/scaling/scale.hpp"

#include "cli/job/joint_stopwatch.hpp"
#include "cli/options/option_value.hpp"
#include "cli/scaling/marginal_batch.hpp"
#include "cli/scaling/scaled_checkpoint.hpp"
#include "cli/scaling/scaled_grid.hpp"
#include "cli/scaling/scaled_job.hpp"
#include "cli/sinkhorn/sinkhorn_batch.hpp"
#include "cli/sinkhorn/sinkhorn_report.hpp"
#include "cli/sinkhorn/sinkhorn_sparse.hpp"

namespace plait::cli {

namespace {

sinkhorn::InPlaceForm in_place_form(ScalingMethod method) {
  switch (method) {
    case ScalingMethod::algorithm_1: return sinkhorn::InPlaceForm::typical;
    case ScalingMethod::algorithm_2: return sinkhorn::InPlaceForm::by_rows;
    case ScalingMethod::algorithm_3: return sinkhorn::InPlaceForm::blocked;
    default: return sinkhorn::InPlaceForm::fused;
  }
}

/// The grid of what is scaled, which is the transpose of a file in Fortran order.
template <class T, class A>
std::optional<sinkhorn::Grid> grid_of(mpi::Context& context, const SinkhornOptions& options, layout::Shape file,
                                      bool is_transposed) {
  if (!options.grid.is_given()) return std::nullopt;
  mpi::agreed(context, [&] {
    const auto& given = options.grid.grid;
    if (!given || given->rows * given->columns == context.size()) return;
    throw ArgumentError(fmt::format("--grid: a grid of {} x {} ranks, expected one of all {} ranks", given->rows,
                                    given->columns, context.size()));
  });
  if (options.grid.is_automatic) {
    const layout::Shape shape = is_transposed ? layout::Shape{file.columns, file.rows} : file;
    return sinkhorn::choose_grid(context.machine(), context.placement(), shape, Index{sizeof(T)}, Index{sizeof(A)});
  }
  const auto rows = static_cast<int>(options.grid.grid->rows);
  const auto columns = static_cast<int>(options.grid.grid->columns);
  return is_transposed ? sinkhorn::Grid{columns, rows} : sinkhorn::Grid{rows, columns};
}

std::string text_of(const std::optional<layout::Shape>& grid) {
  return grid ? fmt::format(", on {} x {} ranks", grid->rows, grid->columns) : "";
}

/// How often an iteration reads or writes the matrix; 0 of COFFEE's algorithms, some of which do it in parts.
Index passes_of(const SinkhornOptions& options) {
  switch (options.method) {
    case ScalingMethod::scaling: return options.grid.is_given() ? 2 : 1;
    case ScalingMethod::in_place: return 2;
    default: return 0;
  }
}

template <class T, class A>
sinkhorn::Scaling<A> scaled_on_blocks(mpi::Context& context, const sinkhorn::Grid& grid, ScaledMatrix<T>& matrix,
                                      const sinkhorn::Marginals& marginals, const sinkhorn::Limits& limits,
                                      const std::vector<A>& start) {
  if constexpr (std::is_same_v<T, simd::BFloat16>) {
    throw ArgumentError("blocks of a grid are of f64 or f32");  // refused before
  } else {
    return plan_on_grid<T, A>(context, grid, matrix, marginals, limits, start);
  }
}

template <class T, class A>
ScaledOutcome scaled(mpi::Context& context, const SinkhornOptions& options, const io::MatrixFile& file,
                     Precision precision, Meter& meter, std::optional<layout::Shape>& used_grid,
                     NarrowedEntries& narrowed) {
  ScaledOutcome result;
  result.precision = precision;
  const JointStopwatch all(context);
  auto matrix = read_and_tell<T>(context, options.input, file, meter);
  narrowed = matrix.narrowed();
  const matrix_view<T> rows = matrix.rows();
  const auto given = ScaledMarginals::of_scaling(context, options, file.shape, matrix.is_transposed(), rows.rows());
  const auto start = read_start<A>(context, options, matrix.is_transposed());
  ScaledCheckpoint checkpoint(
      context, options, "plait sinkhorn", {options.input, options.rows, options.columns, options.start},
      {{"precision", name(precision)}, {"over_relaxation", options.over_relaxation}}, rows.rows(), rows.columns());
  result.resumed_at = checkpoint.resumed_at();
  result.read_seconds = all.seconds();

  meter.stage("scaling", 0, 0);
  const JointStopwatch iterating(context);
  auto limits = limits_of(context, options, precision, meter, result.log);
  limits.checkpoints = checkpoint.of_scaling();
  const auto grid = grid_of<T, A>(context, options, file.shape, matrix.is_transposed());
  if (grid) {
    used_grid =
        matrix.is_transposed() ? layout::Shape{grid->columns, grid->rows} : layout::Shape{grid->rows, grid->columns};
  }
  const auto scaling = [&] {
    if (grid) return scaled_on_blocks<T, A>(context, *grid, matrix, given.of_all_rows(), limits, start);
    if (options.method == ScalingMethod::scaling) {
      return sinkhorn::scale<T, A>(context, rows, given.marginals(), limits, start, {1, 1, options.over_relaxation});
    }
    return sinkhorn::scale_in_place<T, A>(context, rows, given.marginals(), in_place_form(options.method), limits, {},
                                          options.exchange);
  }();
  result.iterate_seconds = iterating.seconds();
  result.outcome = scaling.outcome;
  result.iterations = scaling.outcome.iterations;

  const JointStopwatch writing(context);
  if (options.method == ScalingMethod::scaling && !grid) sinkhorn::plan_in_place<T, A>(rows, scaling.u, scaling.v);
  const auto checked = sinkhorn::checked_marginals(context, rows.rows(), rows.columns(), given.marginals());
  result.check = sinkhorn::marginal_errors<T>(context, rows, checked);
  expect_plan(context, result.outcome, result.check, accuracy_of(options, result.precision));
  if (matrix.is_transposed()) std::swap(result.check.rows, result.check.columns);
  sketch(context, options, matrix, checked, result);
  result.swept_bytes = passes_of(options) * layout::elements(file.shape) * Index{sizeof(T)};
  write_plan(context, options, matrix, scaling.u, scaling.v, meter);
  checkpoint.end(result.outcome);
  result.write_seconds = writing.seconds();
  result.seconds = all.seconds();
  return result;
}

}  // namespace

void run_sinkhorn(mpi::Context& context, const SinkhornOptions& options) {
  const io::MatrixFile file = io::describe_matrix_file(context, options.input);
  mpi::agreed(context, [&] { expect_real(options.input, file); });
  const MarginalFiles marginals(context, options, file.shape);
  if (marginals.problems() > 1) return run_sinkhorn_batch(context, options, marginals);
  if (stays_sparse(options, file)) return run_sparse_sinkhorn(context, options, file);
  mpi::agreed(context, [&] { expect_dense_output(options, "--output", "plan"); });
  ScaledJob job = prepared(context, options, [&options](Precision precision) {
    // A plan in another type than it is kept in, the copy of dealt rows, or the blocks beside what was read.
    if (precision == Precision::bf16 && !options.output.empty()) return Index{4};
    if (options.exchange.leader_rows == sinkhorn::LeaderRows::dealt) return 2 * element_bytes(precision);
    return options.grid.is_given() ? element_bytes(precision) : Index{0};
  });
  const bool is_algorithm = in_place_form(options.method) != sinkhorn::InPlaceForm::fused;
  if (is_algorithm && job.precision == Precision::mixed) job.precision = Precision::f32;  // elements as they are
  std::optional<layout::Shape> grid;                                                      // of the matrix in the file
  const auto work = [&](Meter& meter) {
    return warn_of_underflow(context, options.input, [&](NarrowedEntries& narrowed) {
      return with_elements_of(job.precision, [&]<class T, class A>() {
        return scaled<T, A>(context, options, job.file, job.precision, meter, grid, narrowed);
      });
    });
  };
  const auto report = [&](const ScaledOutcome& outcome) {
    auto json = sinkhorn_json(context, options, job, outcome);
    json["grid"] =
        grid ? nlohmann::ordered_json{{"rows", grid->rows}, {"columns", grid->columns}} : nlohmann::ordered_json();
    json["exchange"] = sinkhorn::name(options.exchange.way);
    return json;
  };
  const auto summary = [&](const ScaledOutcome& outcome) {
    return fmt::format("P = diag(u) K diag(v)   K is {}, {}, {}{}\n{}", layout::to_string(job.file.shape),
                       name(job.precision), name(options.method), text_of(grid),
                       scaled_summary(options, job.file, outcome));
  };
  const auto facts = [&](const ScaledOutcome&) {
    PageFacts page{.rows = {{"method", std::string(name(options.method))}}, .stages = {}};
    if (grid) page.rows.push_back({"grid of ranks", fmt::format("{} x {}", grid->rows, grid->columns)});
    page.rows.push_back({"exchange of sums", std::string(sinkhorn::name(options.exchange.way))});
    return page;
  };
  carry_out(context, options, work, report, summary, facts);
}

}  // namespace plait::cli
