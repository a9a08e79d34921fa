#include "cli/scaling/scaled_job.hpp"

#include <utility>

#include "plait/io/slab.hpp"

#include "cli/options/option_value.hpp"
#include "cli/output/text_aside.hpp"
#include "cli/scaling/sparse_matrix_file.hpp"

namespace plait::cli {

namespace {

/// The bytes that this rank needs at the same time in each phase, for `estimate_memory`.
std::vector<Index> memory_of_scaling(const mpi::Context& context, const io::MatrixFile& file, Index kept_bytes,
                                     Index beside_bytes) {
  const Index elements = io::slab_layout(file.shape, file.order, context.size()).elements_of(context.rank());
  const Index vectors = 6 * (file.shape.rows + file.shape.columns) * Index{sizeof(double)};
  const Index read = io::bytes(file.dtype);
  const bool is_kept_as_read = read == kept_bytes;
  return {elements * (is_kept_as_read ? read : read + kept_bytes) + vectors,
          elements * (kept_bytes + beside_bytes) + vectors};
}

}  // namespace

Index element_bytes(Precision precision) {
  switch (precision) {
    case Precision::f32:
    case Precision::mixed: return 4;
    case Precision::bf16: return 2;
    default: return 8;
  }
}

ScaledJob prepared(mpi::Context& context, const ScaledOptions& options,
                   const std::function<Index(Precision)>& beside_bytes, std::vector<NamedFile> kept) {
  ScaledJob job;
  job.file = io::describe_matrix_file(context, options.input);
  expect_writable_outputs(context, options, std::move(kept));
  job.precision = chosen_precision(options.precision, job.file.dtype);
  job.memory = estimate_memory(
      context, memory_of_scaling(context, job.file, element_bytes(job.precision), beside_bytes(job.precision)));
  if (context.rank() == 0 && !job.memory.warning.empty()) print_warning(job.memory.warning);
  return job;
}

void write_scaled_page(const mpi::Context& context, const ScaledOptions& options, const std::string& summary,
                       const ScaledOutcome& outcome, const PageFacts& facts, const report::Trace& trace) {
  const std::string headline = summary.substr(0, summary.find('\n'));
  write_beside_result(options.page, [&] { return scaled_page(context, options, headline, outcome, facts, trace); });
}

ScaledJob prepared_sparse(mpi::Context& context, const ScaledOptions& options, const io::MatrixFile& file) {
  expect_writable_outputs(context, options);
  ScaledJob job;
  job.file = file;
  job.precision = chosen_precision(options.precision, file.dtype);
  job.memory = memory_of_sparse(context, *sparse_header(file));
  if (context.rank() == 0 && !job.memory.warning.empty()) print_warning(job.memory.warning);
  return job;
}

void expect_dense_output(const ScaledOptions& options, std::string_view option, std::string_view what) {
  if (!ends_like(options.output, ".mtx")) return;
  throw ArgumentError(fmt::format(
      "{}: {} would be a sparse {}, but {} is dealt with as a dense matrix, expected the name of a .npy file", option,
      options.output, what, options.input));
}

}  // namespace plait::cli
