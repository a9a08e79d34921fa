#include "cli/job/json_values.hpp"

#include <type_traits>

namespace plait::cli {

nlohmann::ordered_json scalar_json(const Scalar& scalar, io::DType dtype) {
  return io::with_dtype(dtype, [&]<class T>() -> nlohmann::ordered_json {
    if constexpr (std::is_integral_v<T>) return scalar.as<T>();
    const auto value = scalar.rounded();
    if constexpr (std::is_floating_point_v<T>) return value.real();
    return {value.real(), value.imag()};
  });
}

}  // namespace plait::cli
