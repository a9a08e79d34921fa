#include "cli/sinkhorn.hpp"

#include <optional>
#include <type_traits>

#include <fmt/format.h>

#include "plait/layout/text.hpp"
#include "plait/mpi/agreed.hpp"
#include "plait/sinkhorn/scale.hpp"

#include "cli/json_line.hpp"
#include "cli/print.hpp"
#include "cli/scaled_grid.hpp"
#include "cli/scaled_job.hpp"
#include "cli/traced_job.hpp"

namespace plait::cli {

namespace {

sinkhorn::InPlaceForm in_place_form(ScalingForm form) {
  switch (form) {
    case ScalingForm::algorithm_1: return sinkhorn::InPlaceForm::typical;
    case ScalingForm::algorithm_2: return sinkhorn::InPlaceForm::by_rows;
    case ScalingForm::algorithm_3: return sinkhorn::InPlaceForm::blocked;
    default: return sinkhorn::InPlaceForm::fused;
  }
}

/// The algorithms compute with elements as they are, so that those of a file of `f32` are no `mixed` ones.
Precision precision_of(const SinkhornOptions& options, io::DType of_file) {
  const bool is_algorithm = in_place_form(options.form) != sinkhorn::InPlaceForm::fused;
  if (is_algorithm && options.precision == Precision::automatic && of_file == io::DType::f32) return Precision::f32;
  return chosen_precision(options.precision, of_file);
}

/// The grid of what is scaled, which is the transpose of a file in Fortran order.
template <class T, class A>
std::optional<sinkhorn::Grid> grid_of(mpi::Context& context, const SinkhornOptions& options, layout::Shape file,
                                      bool is_transposed) {
  if (!options.grid.is_given()) return std::nullopt;
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
                     Precision precision, Meter& meter, std::optional<layout::Shape>& used_grid) {
  ScaledOutcome result;
  result.precision = precision;
  const JointStopwatch all(context);
  meter.stage("reading " + options.input, 0, layout::elements(file.shape) * io::bytes(file.dtype));
  auto matrix = read_scaled<T>(context, options.input, file, meter.progress());
  const matrix_view<T> rows = matrix.rows();
  ScaledMarginals given(context, options, file.shape, matrix.is_transposed(), rows.rows());
  if (options.rows.empty() && options.columns.empty()) given.default_to_rows_of_one(file.shape, matrix.is_transposed());
  const auto start = read_start<A>(context, options, matrix.is_transposed());
  result.read_seconds = all.seconds();

  meter.stage("scaling", 0, 0);
  const JointStopwatch iterating(context);
  auto limits = limits_of(options, precision, meter);
  const auto grid = grid_of<T, A>(context, options, file.shape, matrix.is_transposed());
  if (grid) {
    used_grid =
        matrix.is_transposed() ? layout::Shape{grid->columns, grid->rows} : layout::Shape{grid->rows, grid->columns};
  }
  const auto scaling = [&] {
    if (grid) return scaled_on_blocks<T, A>(context, *grid, matrix, given.of_all_rows(), limits, start);
    if (options.form == ScalingForm::scaling) {
      return sinkhorn::scale<T, A>(context, rows, given.marginals(), limits, start);
    }
    return sinkhorn::scale_in_place<T, A>(context, rows, given.marginals(), in_place_form(options.form), limits, {},
                                          options.exchange);
  }();
  result.iterate_seconds = iterating.seconds();
  result.outcome = scaling.outcome;
  result.iterations = scaling.outcome.iterations;

  const JointStopwatch writing(context);
  if (options.form == ScalingForm::scaling && !grid) sinkhorn::plan_in_place<T, A>(rows, scaling.u, scaling.v);
  const auto checked = sinkhorn::checked_marginals(context, rows.rows(), rows.columns(), given.marginals());
  result.check = sinkhorn::marginal_errors<T>(context, rows, checked);
  expect_plan(context, result.outcome, result.check);
  write_plan(context, options, matrix, scaling.u, scaling.v, meter);
  result.write_seconds = writing.seconds();
  result.seconds = all.seconds();
  return result;
}

}  // namespace

void run_sinkhorn(mpi::Context& context, const SinkhornOptions& options) {
  const io::MatrixFile file = io::describe_matrix_file(context, options.input);
  expect_writable_outputs(context, options);
  const Precision precision = precision_of(options, file.dtype);
  const Index element_bytes = precision == Precision::f64 ? 8 : precision == Precision::bf16 ? 2 : 4;
  // A plan in another type than it is kept in, the copy of dealt rows, or the blocks beside what was read.
  const bool deals = options.exchange.leader_rows == sinkhorn::LeaderRows::dealt;
  const Index beside = precision == Precision::bf16 && !options.output.empty() ? 4
                       : deals                                                 ? 2 * element_bytes
                       : options.grid.is_given()                               ? element_bytes
                                                                               : 0;
  const MemoryEstimate memory = estimate_memory(context, memory_of_scaling(context, file, element_bytes, beside));
  if (context.rank() == 0 && !memory.warning.empty()) print_warning(memory.warning);

  Meter meter(context, options.report.meter());
  TracedJob traced(context, options.trace);
  ScaledOutcome outcome;
  std::optional<layout::Shape> grid;  // of the matrix in the file
  switch (precision) {
    case Precision::f32: outcome = scaled<float, float>(context, options, file, precision, meter, grid); break;
    case Precision::mixed: outcome = scaled<float, double>(context, options, file, precision, meter, grid); break;
    case Precision::bf16:
      outcome = scaled<simd::BFloat16, float>(context, options, file, precision, meter, grid);
      break;
    default: outcome = scaled<double, double>(context, options, file, precision, meter, grid);
  }
  meter.finish();
  traced.write();
  if (context.rank() != 0) return;
  if (const auto text = warning(outcome.outcome); !text.empty()) print_warning(text);
  if (options.report.json) {
    auto report = scaled_json(context, "sinkhorn", options, file, memory, outcome);
    report["form"] = name(options.form);
    report["grid"] = grid ? nlohmann::ordered_json{{"rows", grid->rows}, {"columns", grid->columns}} : nullptr;
    report["exchange"] = sinkhorn::name(options.exchange.way);
    report["row_factors"] =
        options.of_rows.empty() ? nlohmann::ordered_json() : nlohmann::ordered_json(options.of_rows);
    report["column_factors"] =
        options.of_columns.empty() ? nlohmann::ordered_json() : nlohmann::ordered_json(options.of_columns);
    print_result(json_line(report));
  } else if (!options.report.quiet) {
    print_result(fmt::format("P = diag(u) K diag(v)   K is {}, {}, {}{}\n{}", layout::to_string(file.shape),
                             name(precision), name(options.form), text_of(grid),
                             scaled_summary(options, file, outcome)));
  }
}

}  // namespace plait::cli
