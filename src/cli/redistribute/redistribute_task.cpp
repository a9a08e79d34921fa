#include "cli/redistribute/redistribute_task.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "plait/base/error.hpp"
#include "plait/io/matrix_output.hpp"
#include "plait/io/slab.hpp"
#include "plait/layout/distributed_matrix.hpp"
#include "plait/mpi/agreed.hpp"

#include "cli/job/layout_folder.hpp"
#include "cli/job/memory_estimate.hpp"
#include "cli/job/traced_job.hpp"
#include "cli/options/layout_argument.hpp"
#include "cli/options/machine_option.hpp"
#include "cli/options/op_name.hpp"

namespace plait::cli {

namespace {

using layout::Layout;
using layout::Shape;

Layout layout_or_slab(mpi::Context& context, const char* option, const std::optional<layout::LayoutSpec>& spec,
                      Shape shape, StorageOrder order) {
  return spec ? layout_of_option(context, option, *spec, shape) : io::slab_layout(shape, order, context.size());
}

void expect_fitting(const RedistributeOptions& options, const io::MatrixFile& input, const io::MatrixFile& into) {
  if (const Shape expected = apply(options.op, input.shape); into.shape != expected) {
    throw ShapeMismatch(fmt::format("--into: {} is {}, expected {}, the shape of op({}) for op = {}", options.into,
                                    layout::to_string(into.shape), layout::to_string(expected), options.input,
                                    name(options.op)));
  }
  if (into.dtype != input.dtype) {
    throw ArgumentError(fmt::format("--into: {} has elements of {}, expected {}, as {} has", options.into,
                                    io::name(into.dtype), io::name(input.dtype), options.input));
  }
}

std::vector<NamedFile> settings_read(const RedistributeOptions& options) {
  std::vector<NamedFile> files = machine_file(options.machine);
  if (options.from && !options.from->path.empty()) files.push_back({options.from->path, "the file of --from"});
  if (options.to && !options.to->path.empty()) files.push_back({options.to->path, "the file of --to"});
  return files;
}

std::vector<NamedFile> files_read(const RedistributeOptions& options) {
  std::vector<NamedFile> files = settings_read(options);
  files.push_back({options.input, "IN"});
  if (!options.into.empty()) files.push_back({options.into, "the file of --into"});
  return files;
}

// Hours may pass before the output is written, so what would stop it then is looked for now.
void expect_writable(mpi::Context& context, const RedistributeOptions& options, const Layout& to) {
  if (options.output.empty()) {
    expect_writable_folder(context, options.per_rank_folder, to, files_read(options));
  } else {
    expect_writable_output(context, options.output, settings_read(options));
  }
  auto kept = files_read(options);
  if (options.output.empty()) {
    kept.push_back({description_in(options.per_rank_folder), "layout.json in the folder of --per-rank"});
  } else {
    kept.push_back({options.output, "the file of -o"});
  }
  expect_writable_trace(context, options.trace, kept);
}

void expect_scalars(const RedistributeOptions& options, io::DType dtype) {
  const auto check = [dtype](const char* option, const Scalar& scalar) {
    try {
      io::with_dtype(dtype, [&]<class T>() { static_cast<void>(scalar.as<T>()); });
    } catch (const ArgumentError& error) {
      throw ArgumentError(fmt::format("{}: {}", option, error.what()));
    }
  };
  check("--alpha", options.alpha);
  check("--beta", options.beta);
}

}  // namespace

Index RedistributeTask::matrix_bytes() const { return layout::elements(input.shape) * io::bytes(input.dtype); }

RedistributeTask prepare(mpi::Context& context, const RedistributeOptions& options) {
  const io::MatrixFile input = io::describe_matrix_file(context, options.input);
  std::optional<io::MatrixFile> into;
  if (!options.into.empty()) into = io::describe_matrix_file(context, options.into);
  mpi::agreed(context, [&] {
    if (into) expect_fitting(options, input, *into);
    expect_scalars(options, input.dtype);
  });
  const Shape result = apply(options.op, input.shape);
  RedistributeTask task{input,
                        into,
                        io::slab_layout(input.shape, input.order, context.size()),
                        layout_or_slab(context, "--from", options.from, input.shape, input.order),
                        layout_or_slab(context, "--to", options.to, result, input.order),
                        io::slab_layout(result, io::written_order(options.output, input.order), context.size())};
  if (options.relabel) {
    mpi::agreed(context, [&] {
      const redistribute::SizedPair pair{{task.from, task.to, options.op}, io::bytes(input.dtype)};
      const KnownNodes nodes{context.topology().nodes_of_ranks(), network_weight(context.machine())};
      task.relabeled = relabeled_plan(pair, context.size(), nodes);
      task.to = task.to.relabeled(task.relabeled->relabeling.rank_of);
    });
  }
  expect_writable(context, options, task.to);
  return task;
}

std::vector<Index> memory_of_phases(const mpi::Context& context, const RedistributeOptions& options,
                                    const RedistributeTask& task) {
  const auto bytes = [&](const Layout& layout) {
    return bytes_of_rank(layout, context.rank(), io::bytes(task.input.dtype));
  };
  const Index source = bytes(task.from);
  const Index target = bytes(task.to);
  const Index kept = task.into ? target : 0;  // A as it was waits while B is read
  std::vector<Index> phases{kept + bytes(task.input_slab), source + target};
  if (task.from != task.input_slab) phases.push_back(kept + bytes(task.input_slab) + source);
  if (task.into) {
    const Layout slab = io::slab_layout(task.to.shape(), task.into->order, context.size());
    phases.push_back(bytes(slab) + (slab == task.to ? 0 : target));
  }
  if (!options.output.empty() && task.to != task.output_slab) phases.push_back(target + bytes(task.output_slab));
  const Index staging = std::min(options.memory_budget, source + target);
  for (Index& phase : phases) phase += staging;
  return phases;
}

}  // namespace plait::cli
