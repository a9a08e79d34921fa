#include "cli/multiply/multiply_task.hpp"

#include <array>

#include <fmt/format.h>

#include "plait/dense/check.hpp"
#include "plait/io/matrix_output.hpp"
#include "plait/io/slab.hpp"
#include "plait/layout/distributed_matrix.hpp"
#include "plait/mpi/agreed.hpp"

#include "cli/job/memory_estimate.hpp"
#include "cli/job/traced_job.hpp"
#include "cli/options/machine_option.hpp"
#include "cli/options/option_words.hpp"

namespace plait::cli {

namespace {

using layout::Layout;
using layout::Shape;

void expect_same_type(const std::string& path, io::DType dtype, const std::string& other_path, io::DType other) {
  if (dtype == other) return;
  throw ArgumentError(
      fmt::format("{} has elements of {}, expected {}, as {} has", other_path, io::name(other), io::name(dtype), path));
}

void expect_scalars(const MultiplyOptions& options, io::DType dtype) {
  const auto check = [&](const char* option, const Scalar& scalar) {
    try {
      with_field(options.a, dtype, [&]<class T>() { static_cast<void>(scalar.as<T>()); });
    } catch (const ArgumentError& error) {
      throw ArgumentError(fmt::format("{}: {}", option, error.what()));
    }
  };
  check("--alpha", options.alpha);
  check("--beta", options.beta);
}

/// Cannon's algorithm wants a square of ranks in each layer: with others, some of them would have nothing to do, which
/// who asks for it by name may not expect.
void expect_squares(const MultiplyOptions& options, int ranks) {
  if (options.method != dense::Method::cannon) return;
  const int layers = options.layers == 0 ? 1 : options.layers;
  int edge = 1;
  while ((edge + 1) * (edge + 1) <= ranks / layers) ++edge;
  if (Index{layers} * edge * edge == ranks || layers > ranks) return;  // too many layers are told as such
  throw ArgumentError(fmt::format("--method cannon: there are {} ranks, expected {} or {}, a square{}", ranks,
                                  layers * edge * edge, layers * (edge + 1) * (edge + 1),
                                  options.layers == 0 ? ", or --layers" : " for each of the layers"));
}

dense::Choice choose(const mpi::Context& context, const MultiplyTask& task) {
  try {
    return dense::choose(task.factors, task.c, context.machine(), context.placement(), io::bytes(task.a.dtype),
                         task.wishes);
  } catch (const ArgumentError& error) {
    constexpr std::array words{OptionWord{"memory_limit", "--memory"}, OptionWord{"mesh", "--layers"}};
    throw ArgumentError(in_option_words(error.what(), words));
  }
}

}  // namespace

MultiplyTask prepare(mpi::Context& context, const MultiplyOptions& options) {
  const io::MatrixFile a = io::describe_matrix_file(context, options.a);
  const io::MatrixFile b = io::describe_matrix_file(context, options.b);
  std::optional<io::MatrixFile> into;
  if (!options.into.empty()) into = io::describe_matrix_file(context, options.into);

  auto task = mpi::agreed(context, [&] {
    with_field(options.a, a.dtype, []<class T>() {});
    expect_same_type(options.a, a.dtype, options.b, b.dtype);
    expect_scalars(options, a.dtype);
    const auto slab = [&](const io::MatrixFile& file) {
      return io::slab_layout(file.shape, file.order, context.size());
    };
    const dense::Factors factors{slab(a), slab(b), options.op_a, options.op_b};
    const dense::ProductShape product = factors.product_shape();
    const Shape shape{product.rows, product.columns};
    if (into && into->shape != shape) {
      throw ShapeMismatch(fmt::format("--into: {} is {}, expected {}, the shape of the product", options.into,
                                      layout::to_string(into->shape), layout::to_string(shape)));
    }
    if (into) expect_same_type(options.a, a.dtype, options.into, into->dtype);

    const StorageOrder order = io::written_order(options.output, a.order);
    MultiplyTask made{a, b, into, factors, io::slab_layout(shape, order, context.size()), {}};
    expect_squares(options, context.size());
    const bool is_cannon = options.method == dense::Method::cannon;
    made.wishes = {.method = options.method,
                   .mesh = {0, 0, is_cannon && options.layers == 0 ? 1 : options.layers},
                   .memory_limit = options.memory_limit};
    made.workspace_bytes = choose(context, made).workspace_bytes;
    return made;
  });
  expect_writable_output(context, options.output, machine_file(options.machine));
  std::vector<NamedFile> kept = machine_file(options.machine);
  kept.insert(kept.end(), {{options.a, "A"}, {options.b, "B"}, {options.output, "the file of -o"}});
  if (into) kept.push_back({options.into, "the file of --into"});
  expect_writable_trace(context, options.trace, kept);
  return task;
}

std::vector<Index> memory_of_phases(const mpi::Context& context, const MultiplyOptions& options,
                                    const MultiplyTask& task) {
  const auto bytes = [&](const Layout& layout) {
    return bytes_of_rank(layout, context.rank(), io::bytes(task.a.dtype));
  };
  const Index check = with_field(options.a, task.a.dtype,
                                 [&]<class T>() { return dense::ProductCheck<T>::memory_bytes(task.shape()); });
  return {bytes(task.factors.a) + bytes(task.factors.b) + bytes(task.c) + task.workspace_bytes + check};
}

}  // namespace plait::cli
