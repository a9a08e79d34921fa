#include "cli/sinkhorn_sparse.hpp"

#include <algorithm>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include <fmt/format.h>

#include "plait/io/matrix_market.hpp"
#include "plait/io/npy_rows.hpp"
#include "plait/layout/text.hpp"
#include "plait/mpi/agreed.hpp"
#include "plait/sinkhorn/sparse.hpp"

#include "cli/option_value.hpp"
#include "cli/scaled_checkpoint.hpp"
#include "cli/scaled_job.hpp"
#include "cli/sinkhorn_report.hpp"

namespace plait::cli {

namespace {

using io::MatrixMarketHeader;

template <class T, class From>
layout::SparseRows<T> converted_rows(layout::SparseRows<From> rows) {
  if constexpr (std::is_same_v<T, From>) {
    return rows;
  } else {
    layout::SparseRows<T> result{rows.shape, rows.first_row, std::move(rows.starts), std::move(rows.columns), {}};
    result.values.reserve(rows.values.size());
    for (const From value : rows.values) result.values.push_back(static_cast<T>(value));
    return result;
  }
}

template <class T>
layout::SparseRows<T> read_rows(mpi::Context& context, const std::string& path, const MatrixMarketHeader& header,
                                const io::Progress& progress) {
  if (header.dtype() == io::DType::i64) {
    auto rows = io::read_matrix_market_rows<Index>(context, path, header, progress);
    return mpi::agreed(context, [&] { return converted_rows<T>(std::move(rows)); });
  }
  auto rows = io::read_matrix_market_rows<double>(context, path, header, progress);
  return mpi::agreed(context, [&] { return converted_rows<T>(std::move(rows)); });
}

/// As a dense matrix, a few rows at a time.
template <class T>
void write_dense(mpi::Context& context, const std::string& path, const layout::SparseRows<T>& plan) {
  constexpr Index block_bytes = Index{4} << 20;
  const Index columns = plan.shape.columns;
  const Index block_rows = std::max(Index{1}, block_bytes / std::max(Index{1}, columns * Index{sizeof(T)}));
  io::NpyRows<T> file(context, path, plan.shape);
  mpi::agreed(context, [&] {
    std::vector<T> block;
    for (Index first = 0; first < plan.rows(); first += block_rows) {
      const Index count = std::min(block_rows, plan.rows() - first);
      block.assign(static_cast<std::size_t>(count * columns), T{0});
      for (Index i = 0; i < count; ++i) {
        const auto at = plan.columns_of(first + i);
        const auto values = plan.values_of(first + i);
        for (std::size_t k = 0; k < at.size(); ++k) {
          block[static_cast<std::size_t>(i * columns) + at[k]] = values[k];
        }
      }
      file.write(plan.first_row + first, block);
    }
  });
  file.commit();
}

template <class T, class A>
ScaledOutcome scaled(mpi::Context& context, const SinkhornOptions& options, const ScaledJob& job, Meter& meter) {
  ScaledOutcome result;
  result.precision = job.precision;
  const auto& header = std::get<MatrixMarketHeader>(job.file.header);
  const JointStopwatch all(context);
  meter.stage("reading " + options.input, 0, header.entries * 20);
  auto rows = read_rows<T>(context, options.input, header, meter.progress());
  ScaledMarginals given(context, options, job.file.shape, false, rows.rows());
  if (options.rows.empty() && options.columns.empty()) given.default_to_rows_of_one(job.file.shape, false);
  const auto start = read_start<A>(context, options, false);
  ScaledCheckpoint checkpoint(context, options, "plait sinkhorn",
                              {options.input, options.rows, options.columns, options.start},
                              {{"precision", name(job.precision)}, {"sparse", true}}, rows.rows(), rows.shape.columns);
  result.resumed_at = checkpoint.resumed_at();
  result.read_seconds = all.seconds();

  meter.stage("scaling", 0, 0);
  const JointStopwatch iterating(context);
  auto limits = limits_of(context, options, job.precision, meter, result.log);
  limits.checkpoints = checkpoint.of_scaling();
  const auto scaling = sinkhorn::scale<T, A>(context, rows, given.marginals(), limits, start);
  result.iterate_seconds = iterating.seconds();
  result.outcome = scaling.outcome;
  result.iterations = scaling.outcome.iterations;

  const JointStopwatch writing(context);
  sinkhorn::plan_in_place<T, A>(rows, scaling.u, scaling.v);
  const auto checked = sinkhorn::checked_marginals(context, rows.rows(), rows.shape.columns, given.marginals());
  result.check = sinkhorn::marginal_errors<T>(context, rows, checked);
  expect_plan(context, result.outcome, result.check, accuracy_of(options, result.precision));
  if (!options.page.empty()) result.sketch = sketch_of(context, rows, checked);
  const Index entry_bytes = Index{sizeof(T)} + Index{sizeof(std::uint32_t)};
  result.swept_bytes = entry_bytes * mpi::all_reduce(context.comm(), rows.entries(), mpi::Operation::sum());
  if (ends_like(options.output, ".mtx")) {
    io::write_matrix_market(context, options.output, rows);
  } else if (!options.output.empty()) {
    write_dense(context, options.output, rows);
  }
  write_row_vector(context, options.of_rows, std::vector<double>(scaling.u.begin(), scaling.u.end()), false);
  write_column_vector(context, options.of_columns, std::vector<double>(scaling.v.begin(), scaling.v.end()), false);
  checkpoint.remove();
  result.write_seconds = writing.seconds();
  result.seconds = all.seconds();
  return result;
}

}  // namespace

bool stays_sparse(const SinkhornOptions& options, const io::MatrixFile& file) {
  const auto* header = std::get_if<MatrixMarketHeader>(&file.header);
  return header != nullptr && header->format == io::MatrixMarketFormat::coordinate && !io::is_complex(file.dtype) &&
         options.form == ScalingForm::scaling && options.over_relaxation == 1 && !options.grid.is_given() &&
         options.precision != Precision::bf16;
}

void run_sparse_sinkhorn(mpi::Context& context, const SinkhornOptions& options, const io::MatrixFile& file) {
  expect_writable_outputs(context, options);
  ScaledJob job;
  job.file = file;
  job.precision = chosen_precision(options.precision, file.dtype);
  const auto& header = std::get<MatrixMarketHeader>(file.header);
  const bool is_mirrored = header.symmetry != io::MatrixMarketSymmetry::general;
  const Index entries = header.entries * (is_mirrored ? 2 : 1) / context.size() + 1;
  const Index vectors = 6 * (file.shape.rows + file.shape.columns) * Index{sizeof(double)};
  job.memory = estimate_memory(context, {entries * 44 + vectors});
  if (context.rank() == 0 && !job.memory.warning.empty()) print_warning(job.memory.warning);
  const auto work = [&](Meter& meter) {
    switch (job.precision) {
      case Precision::f32: return scaled<float, float>(context, options, job, meter);
      case Precision::mixed: return scaled<float, double>(context, options, job, meter);
      default: return scaled<double, double>(context, options, job, meter);
    }
  };
  carry_out(
      context, options, work,
      [&](const ScaledOutcome& outcome) {
        auto json = sinkhorn_json(context, options, job, outcome);
        json["entries"] = header.entries;
        return json;
      },
      [&](const ScaledOutcome& outcome) {
        return fmt::format("P = diag(u) K diag(v)   K is {}, sparse: {} entries in the file, {}\n{}",
                           layout::to_string(file.shape), header.entries, name(job.precision),
                           scaled_summary(options, file, outcome));
      },
      [&](const ScaledOutcome&) {
        return PageFacts{.rows = {{"form", std::string(name(options.form))},
                                  {"entries in the file", fmt::format("{}", header.entries)}},
                         .stages = {}};
      });
}

}  // namespace plait::cli
