#include "bench/harness/machine.hpp"

#include <unistd.h>

#include <cstdlib>
#include <fstream>

#include "plait/simd/isa.hpp"

namespace plait::bench {

namespace {

std::string cpu_model() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    const auto colon = line.find(": ");
    if (line.starts_with("model name") && colon != std::string::npos) return line.substr(colon + 2);
  }
  return "unknown";
}

}  // namespace

Machine this_machine() {
  // Not std::thread::hardware_concurrency, which counts the cores that a rank is bound to.
  const auto cores = static_cast<int>(sysconf(_SC_NPROCESSORS_ONLN));
  return {cpu_model(), cores, std::string(simd::name(simd::selected_isa()))};
}

double load_average() {
  double load = 0;
  return getloadavg(&load, 1) == 1 ? load : 0;
}

}  // namespace plait::bench
