#include "bench/reduce/reduce_deliveries.hpp"

#include <stdlib.h>  // NOLINT(modernize-deprecated-headers): setenv is none of <cstdlib>'s

#include <string>

#include "plait/base/error.hpp"

#include "bench/reduce/loaded_library.hpp"

namespace plait::bench {

namespace {

#if defined(PLAIT_BENCH_COMPONENT)
constexpr const char* component_folder = PLAIT_BENCH_COMPONENT;
#else
constexpr const char* component_folder = nullptr;
#endif

int number(const char* variable) {
  const char* text = std::getenv(variable);
  return text == nullptr ? -1 : std::atoi(text);
}

}  // namespace

bool is_preloaded() { return !loaded_library("libplait_reduce.so").empty(); }

bool has_component() { return component_folder != nullptr; }

void load_component_on_first_rank(int ranks) {
  if (!has_component() || number("OMPI_COMM_WORLD_SIZE") != ranks || number("OMPI_COMM_WORLD_RANK") != 0) return;
  const std::string path = std::string(component_folder) + ":SYSTEM_DEFAULT:USER_DEFAULT";
  setenv("OMPI_MCA_mca_base_component_path", path.c_str(), 1);
}

void expect_component(int rank) {
  const bool is_loaded = !loaded_library("mca_op_plait.so").empty();
  if (is_loaded == (rank == 0)) return;
  throw Error(ErrorKind::other, is_loaded ? "plait's component is loaded on all ranks, where one was to go without"
                                          : "Open MPI did not load plait's component");
}

}  // namespace plait::bench
