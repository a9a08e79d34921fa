#include "cli/purify/purify_task.hpp"

#include <algorithm>
#include <array>
#include <complex>

#include <fmt/format.h>

#include "plait/base/error.hpp"
#include "plait/io/aside_file.hpp"
#include "plait/io/matrix_output.hpp"
#include "plait/io/slab.hpp"
#include "plait/layout/distributed_matrix.hpp"
#include "plait/mpi/agreed.hpp"
#include "plait/purify/eigenstates.hpp"
#include "plait/purify/hamiltonian.hpp"
#include "plait/purify/purification.hpp"

#include "cli/job/memory_estimate.hpp"
#include "cli/job/traced_job.hpp"
#include "cli/options/machine_option.hpp"
#include "cli/options/option_words.hpp"

namespace plait::cli {

namespace {

void expect_shape(const std::string& path, const io::MatrixFile& file, layout::Shape shape, std::string_view why) {
  if (file.shape == shape) return;
  throw ShapeMismatch(
      fmt::format("{} is {}, expected {}, {}", path, layout::to_string(file.shape), layout::to_string(shape), why));
}

purify::Method method_of(const PurifyOptions& options, Index occupied, Index states) {
  if (options.way.method) return *options.way.method;
  if (options.chemical_potential) return purify::Method::mcweeny;
  return purify::choose_method(occupied, states);
}

// Hours may pass before the output is written, so what would stop it then is looked for now.
void expect_writable(mpi::Context& context, const PurifyOptions& options) {
  mpi::agreed(context, [&] {
    if (context.rank() != 0) return;
    for (const std::string& path : {options.page, options.checkpoint, options.eigenvalues}) {
      if (!path.empty()) io::AsideFile::try_out(path);
    }
  });
  for (const std::string& path : {options.output, options.energy_weighted}) {
    if (!path.empty()) io::expect_writable_matrix(context, path);
  }
  std::vector<NamedFile> kept = machine_file(options.machine);
  const auto keep = [&kept](const std::string& path, const char* role) {
    if (!path.empty()) kept.push_back({path, role});
  };
  keep(options.input, "IN");
  keep(options.overlap, "the file of --overlap");
  keep(options.inverse_root, "the file of --inverse-root");
  std::vector<NamedFile> written;
  const auto write = [&written](const std::string& path, const std::string& suffix, const char* role) {
    if (!path.empty()) written.push_back({path + suffix, role});
  };
  write(options.output, "", "the file of -o");  // in place of H, a job that is killed could not go on
  write(options.energy_weighted, "", "the file of --energy-weighted");
  write(options.eigenvalues, "", "the file of --eigenvalues");
  write(options.page, "", "the file of --report");
  write(options.checkpoint, "", "the file of --checkpoint");
  for (const char* turn : {".a.npy", ".b.npy"}) write(options.checkpoint, turn, "an iterate's of --checkpoint");
  mpi::agreed(context, [&] {
    if (context.rank() == 0) expect_different_files(written, kept);
  });
  kept.insert(kept.end(), written.begin(), written.end());
  expect_writable_trace(context, options.trace, kept);
}

// Before hours pass: whether they can be found at all.
void expect_eigenstates(mpi::Context& context, const PurifyOptions& options, const PurifyTask& task) {
  mpi::agreed(context, [&] {
    const layout::Layout layout = purify::eigenstates_layout(task.states, context.size());
    try {
      if (task.is_complex) {
        static_cast<void>(purify::ScalapackRoutines<std::complex<double>>());
        purify::expect_countable<std::complex<double>>(layout);
      } else {
        static_cast<void>(purify::ScalapackRoutines<double>());
        purify::expect_countable<double>(layout);
      }
    } catch (const ArgumentError& error) {
      throw ArgumentError(in_option_words(error.what(), std::array{OptionWord{"h", options.input}}));
    } catch (const Error& error) {
      const char* const option = options.way.by_eigenstates                   ? "--method eigen"
                                 : options.smearing != purify::Smearing::none ? "--smearing"
                                                                              : "--eigenvalues";
      throw Error(error.kind(), fmt::format("{}: {}", option, error.what()));
    }
  });
}

}  // namespace

std::string_view method_name(const PurifyTask& task) noexcept {
  return task.by_eigenstates ? "eigen" : name(task.method);
}

PurifyTask prepare(mpi::Context& context, const PurifyOptions& options) {
  PurifyTask task;
  task.hamiltonian = io::describe_matrix_file(context, options.input);
  if (!options.overlap.empty()) task.overlap = io::describe_matrix_file(context, options.overlap);
  if (!options.inverse_root.empty()) task.inverse_root = io::describe_matrix_file(context, options.inverse_root);
  mpi::agreed(context, [&] {
    const layout::Shape shape = task.hamiltonian.shape;
    task.states = shape.rows;
    expect_shape(options.input, task.hamiltonian, {shape.rows, shape.rows}, "as a Hamiltonian is square");
    if (task.overlap) expect_shape(options.overlap, *task.overlap, shape, "as " + options.input + " is");
    if (task.inverse_root) expect_shape(options.inverse_root, *task.inverse_root, shape, "as " + options.input + " is");
    const bool is_smeared = options.smearing != purify::Smearing::none;
    task.filled = static_cast<double>(*options.electrons) / options.per_state;
    task.width = options.width ? *options.width : options.temperature ? *options.temperature / options.energy_unit : 0;
    try {
      const Index in_part = is_smeared ? *options.electrons % options.per_state : 0;
      task.occupied = purify::occupied_states(*options.electrons + in_part, options.per_state, task.states);
    } catch (const ArgumentError& error) {
      const bool is_odd = !is_smeared && options.per_state == 2 && *options.electrons % 2 != 0;
      throw ArgumentError(fmt::format("--{}{}", error.what(), is_odd ? "; --per-state 1 if only one is in each" : ""));
    }
  });
  task.method = method_of(options, task.occupied, task.states);
  task.squares = purify::choose_squares(context.size());
  task.is_complex = io::is_complex(task.hamiltonian.dtype) || (task.overlap && io::is_complex(task.overlap->dtype)) ||
                    (task.inverse_root && io::is_complex(task.inverse_root->dtype));
  task.by_eigenstates =
      options.way.by_eigenstates || options.smearing != purify::Smearing::none || !options.eigenvalues.empty();
  if (task.by_eigenstates) expect_eigenstates(context, options, task);
  expect_writable(context, options);
  return task;
}

std::vector<Index> memory_of_phases(const mpi::Context& context, const PurifyOptions& options, const PurifyTask& task,
                                    const layout::Layout& layout, Index workspace_bytes) {
  const auto bytes = [&](const layout::Layout& of) { return bytes_of_rank(of, context.rank(), task.element_bytes()); };
  const Index slab = bytes(io::slab_layout(task.hamiltonian.shape, task.hamiltonian.order, context.size()));
  const Index matrix = bytes(layout);
  const Index kept = (task.overlap ? 2 : 0) + (!options.energy_weighted.empty() && task.overlap ? 1 : 0);  // S, Z, H
  if (task.by_eigenstates) {
    const layout::Layout grid = purify::eigenstates_layout(task.states, context.size());
    const bool has_overlap = task.overlap.has_value();
    const Index own = task.is_complex
                          ? purify::eigenstates_bytes<std::complex<double>>(grid, context.rank(), has_overlap)
                          : purify::eigenstates_bytes<double>(grid, context.rank(), has_overlap);
    const Index results = options.energy_weighted.empty() ? 1 : 2;
    return {2 * slab + 2 * matrix, (has_overlap ? 2 : 1) * matrix + own, (2 + results) * matrix + own,
            (results + 2) * matrix + slab};
  }
  const Index checkpointing = options.checkpoint.empty() ? 0 : slab;
  return {2 * slab + (kept + 1) * matrix, (kept + (task.overlap ? 4 : 0)) * matrix + workspace_bytes,
          (kept + 1 + purify::matrices_held(task.method)) * matrix + workspace_bytes + checkpointing,
          (kept + 3) * matrix + slab + workspace_bytes};
}

}  // namespace plait::cli
