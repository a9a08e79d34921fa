#pragma once

#include <complex>
#include <optional>
#include <string>
#include <vector>

#include "plait/base/error.hpp"
#include "plait/base/index.hpp"
#include "plait/dense/arrangement/choice.hpp"
#include "plait/dense/multiplication.hpp"
#include "plait/io/dtype.hpp"
#include "plait/io/file_kind.hpp"
#include "plait/layout/layout.hpp"
#include "plait/mpi/context.hpp"

#include "cli/multiply/multiply_options.hpp"

namespace plait::cli {

/// What `plait multiply` is going to do, known in full before an element is read.
struct MultiplyTask {
  io::MatrixFile a;
  io::MatrixFile b;
  std::optional<io::MatrixFile> into;  // C as it was, for beta
  dense::Factors factors;              // as they are read
  layout::Layout c;                    // as it is written
  dense::MultiplicationOptions wishes;
  Index workspace_bytes = 0;

  [[nodiscard]] dense::ProductShape shape() const { return factors.product_shape(); }
};

/// Reads the headers and checks that everything fits together, that there is a way within the memory limit, and that
/// the output can be written. Collective over `context`.
///
/// \throws Error  on every rank
[[nodiscard]] MultiplyTask prepare(mpi::Context& context, const MultiplyOptions& options);

/// The bytes that this rank needs at the same time in each phase of the task, for `estimate_memory`.
[[nodiscard]] std::vector<Index> memory_of_phases(const mpi::Context& context, const MultiplyOptions& options,
                                                  const MultiplyTask& task);

/// Calls `f.template operator()<T>()` with the C++ type of elements that can be multiplied.
/// \throws ArgumentError  naming the file, if they can't
template <class F>
decltype(auto) with_field(const std::string& path, io::DType dtype, F&& f) {
  switch (dtype) {
    case io::DType::f32: return f.template operator()<float>();
    case io::DType::f64: return f.template operator()<double>();
    case io::DType::c64: return f.template operator()<std::complex<float>>();
    case io::DType::c128: return f.template operator()<std::complex<double>>();
    default: break;
  }
  throw ArgumentError(path + " has elements of " + std::string(io::name(dtype)) + ", expected f32, f64, c64 or c128");
}

}  // namespace plait::cli
