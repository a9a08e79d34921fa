#pragma once

#include <string>

namespace plait::bench {

/// The path of a shared library that this process has loaded, by its file name, such as "mca_op_avx.so"; empty where it
/// has not.
[[nodiscard]] std::string loaded_library(const std::string& file_name);

}  // namespace plait::bench
