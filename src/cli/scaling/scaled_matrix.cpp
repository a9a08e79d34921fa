#include "cli/scaling/scaled_matrix.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "plait/base/error.hpp"
#include "plait/io/aside_file.hpp"
#include "plait/io/npy/npy.hpp"
#include "plait/layout/axis.hpp"
#include "plait/mpi/collectives.hpp"

#include "cli/job/traced_job.hpp"
#include "cli/options/machine_option.hpp"
#include "cli/options/named_file.hpp"

namespace plait::cli {

namespace {

std::vector<double> read_marginals(mpi::Context& context, const std::string& option, const std::string& path,
                                   Index expected, const std::string& what) {
  if (path.empty()) return {};
  auto values = io::read_npy_vector(context, path);
  mpi::agreed(context, [&] {
    if (static_cast<Index>(values.size()) == expected) return;
    throw ArgumentError(fmt::format("{}: {} has {} elements, expected {}, as many as there are {}", option, path,
                                    values.size(), expected, what));
  });
  return values;
}

/// As one row or one column, of which each rank writes its part.
void write_vector(mpi::Context& context, const std::string& path, layout::Layout layout, const double* own) {
  auto slab = mpi::agreed(context, [&] { return io::make_slab<double>(path, layout, context.rank()); });
  const auto& tile = slab.tiles()[0];
  std::copy_n(own, tile.rows() * tile.columns(), tile.data());
  io::write_npy(context, path, slab, {});
}

}  // namespace

void expect_real(const std::string& path, const io::MatrixFile& file) {
  if (io::is_complex(file.dtype)) fail_complex(path, file);
}

void fail_complex(const std::string& path, const io::MatrixFile& file) {
  throw ArgumentError(fmt::format("{} has elements of {}, expected real ones", path, io::name(file.dtype)));
}

ScaledMarginals::ScaledMarginals(mpi::Context& context, const ScaledOptions& options, layout::Shape file,
                                 bool is_transposed, Index own_rows) {
  rows_ = read_marginals(context, "--rows", options.rows, file.rows, "rows");
  columns_ = read_marginals(context, "--columns", options.columns, file.columns, "columns");
  if (is_transposed) {
    std::swap(rows_, columns_);
    names_ = sinkhorn::AxisNames::of_transpose();
  }
  const Index first = mpi::sum_below(context.comm(), own_rows);
  if (!rows_.empty()) own_.assign(rows_.begin() + first, rows_.begin() + first + own_rows);
}

ScaledMarginals ScaledMarginals::of_scaling(mpi::Context& context, const ScaledOptions& options, layout::Shape file,
                                            bool is_transposed, Index own_rows) {
  ScaledMarginals marginals(context, options, file, is_transposed, own_rows);
  // Rows of what is scaled have that by themselves.
  const bool is_given = !options.rows.empty() || !options.columns.empty();
  if (!is_given && is_transposed) marginals.columns_.assign(static_cast<std::size_t>(file.rows), 1.0);
  return marginals;
}

ScaledMarginals ScaledMarginals::of_transport(mpi::Context& context, const ScaledOptions& options, layout::Shape file,
                                              bool is_transposed, Index own_rows) {
  ScaledMarginals marginals(context, options, file, is_transposed, own_rows);
  if (!options.rows.empty() || !options.columns.empty()) return marginals;
  const auto spread = [](std::vector<double>& masses, Index own, Index all) {
    if (all > 0) masses.assign(static_cast<std::size_t>(own), 1.0 / static_cast<double>(all));
  };
  const auto [rows, columns] = is_transposed ? layout::Shape{file.columns, file.rows} : file;
  spread(marginals.own_, own_rows, rows);
  spread(marginals.columns_, columns, columns);
  return marginals;
}

void write_row_vector(mpi::Context& context, const std::string& path, std::span<const double> own, bool is_transposed) {
  if (path.empty()) return;
  const Index n = mpi::all_reduce(context.comm(), static_cast<Index>(own.size()), mpi::Operation::sum());
  const auto layout = is_transposed ? io::slab_layout({1, n}, StorageOrder::column_major, context.size())
                                    : io::slab_layout({n, 1}, StorageOrder::row_major, context.size());
  write_vector(context, path, layout, own.data());
}

void write_column_vector(mpi::Context& context, const std::string& path, std::span<const double> all,
                         bool is_transposed) {
  if (path.empty()) return;
  const auto n = static_cast<Index>(all.size());
  const auto axis = layout::Axis::even(n, context.size());
  const Index own = axis.local_extent(context.rank());
  const auto layout = is_transposed ? io::slab_layout({n, 1}, StorageOrder::row_major, context.size())
                                    : io::slab_layout({1, n}, StorageOrder::column_major, context.size());
  write_vector(context, path, layout, own == 0 ? nullptr : all.data() + axis.global_of(context.rank(), 0));
}

void expect_writable_outputs(mpi::Context& context, const ScaledOptions& options, std::vector<NamedFile> kept,
                             const std::vector<NamedFile>& also_written) {
  const auto named = [](std::vector<NamedFile>& files, const std::string& path, const std::string& role) {
    if (!path.empty()) files.push_back({path, role});
  };
  const auto file_of = [](const char* option) { return fmt::format("the file of {}", option); };
  for (const NamedFile& file : machine_file(options.machine)) kept.push_back(file);
  named(kept, options.rows, "the file of --rows");
  named(kept, options.columns, "the file of --columns");
  named(kept, options.start, "the file of --start");
  std::vector<NamedFile> plan;  // which may replace IN
  named(plan, options.output, file_of(options.output_option));
  std::vector<NamedFile> written;
  named(written, options.of_rows, file_of(options.row_option));
  named(written, options.of_columns, file_of(options.column_option));
  named(written, options.page, "the file of --report");
  if (!options.checkpoint.empty()) {
    named(written, options.checkpoint, "the file of --checkpoint");
    for (const char* turn : {".a.npy", ".b.npy"}) named(written, options.checkpoint + turn, "a state of --checkpoint");
  }
  written.insert(written.end(), also_written.begin(), also_written.end());
  mpi::agreed(context, [&] {
    if (context.rank() != 0) return;
    expect_different_files(plan, kept);
    named(kept, options.input, "IN");
    kept.insert(kept.end(), plan.begin(), plan.end());
    expect_different_files(written, kept);
    for (const std::string* path :
         {&options.checkpoint, &options.page, &options.output, &options.of_rows, &options.of_columns}) {
      if (!path->empty()) io::AsideFile::try_out(*path);
    }
    for (const NamedFile& file : also_written) io::AsideFile::try_out(file.path);
  });
  kept.insert(kept.end(), written.begin(), written.end());
  expect_writable_trace(context, options.trace, kept);
}

}  // namespace plait::cli
