#include "cli/job/json_values.hpp"

#include <type_traits>

#include "plait/mpi/environment.hpp"

namespace plait::cli {

nlohmann::ordered_json job_json(const mpi::Context& context, const char* command) {
  return {{"command", command},
          {"version", PLAIT_VERSION},
          {"mpi", mpi::library_version()},
          {"ranks", context.size()},
          {"nodes", context.topology().nodes()}};
}

nlohmann::ordered_json input_json(const std::string& path, const io::MatrixFile& file) {
  return {{"path", path}, {"format", io::name(file.kind)}, {"order", order_name(file.order)}};
}

nlohmann::ordered_json output_json(const std::string& path) {
  return path.empty() ? nlohmann::ordered_json() : nlohmann::ordered_json{{"path", path}};
}

nlohmann::ordered_json json_of(const MemoryEstimate& memory) {
  return {{"largest_rank_bytes", memory.largest_rank}, {"fullest_node_bytes", memory.fullest_node}};
}

std::string_view order_name(StorageOrder order) { return order == StorageOrder::row_major ? "C" : "F"; }

nlohmann::ordered_json scalar_json(const Scalar& scalar, io::DType dtype) {
  return io::with_dtype(dtype, [&]<class T>() -> nlohmann::ordered_json {
    if constexpr (std::is_integral_v<T>) return scalar.as<T>();
    const auto value = scalar.rounded();
    if constexpr (std::is_floating_point_v<T>) return value.real();
    return {value.real(), value.imag()};
  });
}

}  // namespace plait::cli
