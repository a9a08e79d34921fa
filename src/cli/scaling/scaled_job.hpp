#pragma once

#include <cmath>
#include <functional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "plait/base/error.hpp"
#include "plait/io/file_kind.hpp"
#include "plait/io/npy/npy.hpp"
#include "plait/layout/sparse_rows.hpp"
#include "plait/mpi/agreed.hpp"
#include "plait/mpi/context.hpp"
#include "plait/simd/float16.hpp"
#include "plait/sinkhorn/course/limits.hpp"
#include "plait/sinkhorn/marginals/marginals.hpp"

#include "cli/job/memory_estimate.hpp"
#include "cli/job/traced_job.hpp"
#include "cli/output/json_line.hpp"
#include "cli/output/meter.hpp"
#include "cli/output/print.hpp"
#include "cli/scaling/input_files.hpp"
#include "cli/scaling/iteration_log.hpp"
#include "cli/scaling/plan_sketch.hpp"
#include "cli/scaling/scaled_matrix.hpp"
#include "cli/scaling/scaled_options.hpp"
#include "cli/scaling/scaled_page.hpp"
#include "cli/scaling/scaled_report.hpp"

namespace plait::cli {

/// What the matrix is kept in and computed with, where it was left to the type of the file.
[[nodiscard]] inline Precision chosen_precision(Precision wanted, io::DType of_file) {
  if (wanted != Precision::automatic) return wanted;
  return of_file == io::DType::f32 ? Precision::mixed : Precision::f64;
}

/// Of an element as it is kept.
[[nodiscard]] Index element_bytes(Precision precision);

/// Calls `f.template operator()<T, A>()` with what elements of a dense matrix are kept in, and computed with.
template <class F>
decltype(auto) with_elements_of(Precision precision, F&& f) {
  switch (precision) {
    case Precision::f32: return f.template operator()<float, float>();
    case Precision::mixed: return f.template operator()<float, double>();
    case Precision::bf16: return f.template operator()<simd::BFloat16, float>();
    default: return f.template operator()<double, double>();
  }
}

/// The same where elements are kept in no type that is narrower than float.
template <class F>
decltype(auto) with_numbers_of(Precision precision, F&& f) {
  switch (precision) {
    case Precision::f32: return f.template operator()<float, float>();
    case Precision::mixed: return f.template operator()<float, double>();
    default: return f.template operator()<double, double>();
  }
}

/// What is known of a job before it begins.
struct ScaledJob {
  io::MatrixFile file;
  Precision precision = Precision::automatic;
  MemoryEstimate memory;
};

/// Describes the file, and looks for what would stop the job after hours: outputs that can't be written, too little
/// memory. Rank 0 warns where memory is short. Collective over `context`.
///
/// \param beside_bytes  an element's, of copies of the matrix beside it, by precision
/// \param kept          what is read beside the files of `options`
[[nodiscard]] ScaledJob prepared(mpi::Context& context, const ScaledOptions& options,
                                 const std::function<Index(Precision)>& beside_bytes, std::vector<NamedFile> kept = {});

/// The same of a matrix that stays sparse (see sparse_header). Collective over `context`.
[[nodiscard]] ScaledJob prepared_sparse(mpi::Context& context, const ScaledOptions& options,
                                        const io::MatrixFile& file);

/// \throws ArgumentError  the output is to be a Matrix Market file, but IN is dealt with as a dense matrix
void expect_dense_output(const ScaledOptions& options, std::string_view option, std::string_view what);

/// Writes the page of --report (see write_beside_result). Local.
void write_scaled_page(const mpi::Context& context, const ScaledOptions& options, const std::string& summary,
                       const ScaledOutcome& outcome, const PageFacts& facts, const report::Trace& trace);

/// Does the work, traced and with a meter, and tells what came of it. Collective over `context`.
///
/// \param options  of the job's own type, as `inputs_of` wants them
/// \param work     called with the meter
/// \param report   called with what came of it, on rank 0; returns JSON
/// \param summary  likewise; returns text
/// \param facts    likewise; returns PageFacts
template <class Options, class Work, class Report, class Summary, class Facts>
void carry_out(mpi::Context& context, const Options& options, const Work& work, const Report& report,
               const Summary& summary, const Facts& facts) {
  Meter meter(context, options.report.meter());
  TracedJob traced(context, options.trace, options.page);
  const auto outcome = naming_files(inputs_of(options), [&] { return work(meter); });
  meter.finish();
  const report::Trace trace = traced.write();
  if (context.rank() != 0) return;
  if (!options.page.empty()) write_scaled_page(context, options, summary(outcome), outcome, facts(outcome), trace);
  if (const auto text = warning(outcome.outcome); !text.empty()) print_warning(text);
  if (options.report.json) {
    print_result(json_line(report(outcome)));
  } else if (!options.report.quiet) {
    print_result(summary(outcome));
  }
}

/// The limits that the options tell. While the iterations go on, `meter` tells of them, and for a page `log` notes how;
/// their schedules are recorded for a trace, or as many as the page shows.
[[nodiscard]] inline sinkhorn::Limits limits_of(mpi::Context& context, const ScaledOptions& options,
                                                Precision precision, Meter& meter, IterationLog& log) {
  const double tolerance = tolerance_of(options, precision);
  const auto listener = [&context, &options, &meter, &log, tolerance](Index iteration, double error) {
    meter.say([&] { return fmt::format("iteration {}: error {:.2e}, tolerance {:.2e}", iteration, error, tolerance); });
    if (options.page.empty()) return;
    log.took(iteration, error);
    if (options.trace.empty() && log.shown == IterationLog::most_shown) context.timeline().stop();
  };
  return {tolerance, options.most_iterations, listener};
}

/// Reads a dense matrix, and tells so. Collective over `context`.
template <class T>
[[nodiscard]] ScaledMatrix<T> read_and_tell(mpi::Context& context, const std::string& path, const io::MatrixFile& file,
                                            Meter& meter) {
  const Index bytes = layout::elements(file.shape) * io::bytes(file.dtype);
  meter.stage("reading " + path, bytes / context.size(), bytes);
  return read_scaled<T>(context, path, file, meter.progress());
}

/// Notes for a page what it shows of a plan. Collective over `context`.
///
/// \param wanted  sums of the rows and columns of what is scaled
template <class T>
void sketch(mpi::Context& context, const ScaledOptions& options, ScaledMatrix<T>& plan,
            const sinkhorn::CheckedMarginals& wanted, ScaledOutcome& result) {
  if (options.page.empty()) return;
  auto taken = sketch_of(context, matrix_view<const T>(plan.rows()), wanted);
  result.sketch = plan.is_transposed() ? taken.transposed() : std::move(taken);
}

template <class T>
void sketch(mpi::Context& context, const ScaledOptions& options, const layout::SparseRows<T>& plan,
            const sinkhorn::CheckedMarginals& wanted, ScaledOutcome& result) {
  if (!options.page.empty()) result.sketch = sketch_of(context, plan, wanted);
}

/// \throws ArgumentError  what is a number, and not 0, is none or 0 in a narrower type
template <class A>
[[nodiscard]] std::vector<A> as_numbers(const std::vector<double>& values, const std::string& path) {
  std::vector<A> numbers;
  for (const double value : values) {
    numbers.push_back(static_cast<A>(value));
    if ((numbers.back() == 0) == (value == 0) && std::isfinite(numbers.back()) == std::isfinite(value)) continue;
    throw ArgumentError(
        fmt::format("--start: element {} of {} is {}, beyond the range of f32; expected --precision f64",
                    numbers.size() - 1, path, value));
  }
  return numbers;
}

/// Reads the file of --start.
///
/// \throws ArgumentError  on all ranks: the file of the matrix is kept by columns, so that what is scaled is the
///                        transpose, which begins with its own columns
template <class A>
[[nodiscard]] std::vector<A> read_start(mpi::Context& context, const ScaledOptions& options, bool is_transposed) {
  mpi::agreed(context, [&] {
    if (options.start.empty() || !is_transposed) return;
    throw ArgumentError(
        fmt::format("--start: {} is kept by columns, as arrays in Fortran order and Matrix Market files "
                    "of dense matrices are; expected a .npy file in C order",
                    options.input));
  });
  if (options.start.empty()) return {};
  const auto start = io::read_npy_vector(context, options.start);
  return mpi::agreed(context, [&] { return as_numbers<A>(start, options.start); });
}

/// Writes the matrix, which may have become a plan, where -o says. Collective over `context`.
template <class T>
void write_matrix(mpi::Context& context, const ScaledOptions& options, ScaledMatrix<T>& plan, Meter& meter) {
  if (options.output.empty()) return;
  const auto& slab = plan.slab();
  const Index bytes = slab.layout().elements_of(context.rank()) * Index{sizeof(T)};
  meter.stage("writing " + options.output, bytes, layout::elements(slab.layout().shape()) * Index{sizeof(T)});
  if constexpr (std::is_same_v<T, simd::BFloat16>) {
    io::write_npy(context, options.output, converted<float>(context, options.output, slab), meter.progress());
  } else {
    io::write_npy(context, options.output, slab, meter.progress());
  }
}

/// Writes the plan and its vectors. Collective over `context`.
template <class T, class A>
void write_plan(mpi::Context& context, const ScaledOptions& options, ScaledMatrix<T>& plan, const std::vector<A>& rows,
                const std::vector<A>& columns, Meter& meter) {
  write_matrix(context, options, plan, meter);
  write_vectors(context, options, rows, columns, plan.is_transposed());
}

}  // namespace plait::cli
