#pragma once

#include <cmath>
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

#include "plait/io/dtype.hpp"
#include "plait/io/file_kind.hpp"
#include "plait/layout/shape.hpp"
#include "plait/mpi/context.hpp"

#include "cli/job/memory_estimate.hpp"
#include "cli/options/scalar.hpp"

/// Values that the reports of several jobs hold.
namespace plait::cli {

/// What the report of a job begins with.
[[nodiscard]] nlohmann::ordered_json job_json(const mpi::Context& context, const char* command);

/// Of a file that was read: path, format, order.
[[nodiscard]] nlohmann::ordered_json input_json(const std::string& path, const io::MatrixFile& file);

/// Of a file that was written: path; null where there is none.
[[nodiscard]] nlohmann::ordered_json output_json(const std::string& path);

[[nodiscard]] nlohmann::ordered_json json_of(const MemoryEstimate& memory);

/// "C" or "F", as NumPy has it.
[[nodiscard]] std::string_view order_name(StorageOrder order);

/// A name, such as a file's: null where none was given.
[[nodiscard]] inline nlohmann::ordered_json name_or_null(const std::string& name) {
  return name.empty() ? nlohmann::ordered_json() : nlohmann::ordered_json(name);
}

/// Null where it is infinite or no number, which JSON has no words for.
[[nodiscard]] inline nlohmann::ordered_json number_or_null(double number) {
  return std::isfinite(number) ? nlohmann::ordered_json(number) : nlohmann::ordered_json();
}

/// [rows, columns]
[[nodiscard]] inline nlohmann::ordered_json shape_json(const layout::Shape& shape) {
  return {shape.rows, shape.columns};
}

/// Whole numbers exactly, complex ones as [real, imaginary].
/// \pre  `dtype` can hold the number
[[nodiscard]] nlohmann::ordered_json scalar_json(const Scalar& scalar, io::DType dtype);

}  // namespace plait::cli
