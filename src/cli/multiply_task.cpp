#include "cli/multiply_task.hpp"

#include <fmt/format.h>

#include "plait/io/matrix_output.hpp"
#include "plait/io/slab.hpp"
#include "plait/layout/distributed_matrix.hpp"
#include "plait/mpi/agreed.hpp"

#include "cli/traced_job.hpp"

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

}  // namespace

Index MultiplyTask::matrix_bytes(const io::MatrixFile& file) {
  return layout::elements(file.shape) * io::bytes(file.dtype);
}

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
    made.wishes = {.method = options.method, .mesh = {0, 0, options.layers}, .memory_limit = options.memory_limit};
    const auto choice = dense::choose(context, made.factors, made.c, io::bytes(a.dtype), made.wishes);
    made.workspace_bytes = choice.workspace_bytes;
    return made;
  });
  io::expect_writable_matrix(context, options.output);
  std::vector<NamedFile> kept{{options.a, "A"}, {options.b, "B"}, {options.output, "the file of -o"}};
  if (into) kept.push_back({options.into, "the file of --into"});
  expect_writable_trace(context, options.trace, kept);
  return task;
}

std::vector<Index> memory_of_phases(const mpi::Context& context, const MultiplyTask& task) {
  const auto bytes = [&](const Layout& layout) {
    return layout::place_tiles(layout, context.rank(), io::bytes(task.a.dtype)).bytes;
  };
  return {bytes(task.factors.a) + bytes(task.factors.b) + bytes(task.c) + task.workspace_bytes};
}

}  // namespace plait::cli
