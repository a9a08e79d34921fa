#include "cli/host/node.hpp"

#include <omp.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <limits>
#include <system_error>

#include "plait/base/error.hpp"
#include "plait/base/restart.hpp"
#include "plait/dense/blas/blas_kernels.hpp"
#include "plait/layout/distributed_matrix.hpp"
#include "plait/layout/text.hpp"
#include "plait/mpi/agreed.hpp"
#include "plait/mpi/collectives.hpp"

#include "cli/host/text.hpp"

namespace plait::cli {

namespace {

// The value of a line "Key:  value unit" in a file of /proc, in KiB if it is a size.
std::string value_in(const char* path, std::string_view key) {
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    const auto colon = line.find(':');
    if (colon == std::string::npos) continue;
    const auto name_end = line.find_last_not_of(" \t", colon - 1);
    if (std::string_view(line).substr(0, name_end + 1) != key) continue;
    const auto begin = line.find_first_not_of(" \t", colon + 1);
    return begin == std::string::npos ? std::string() : line.substr(begin);
  }
  return {};
}

Index kibibytes(std::string_view key) { return std::atoll(value_in("/proc/meminfo", key).c_str()) * 1024; }

Index number_of_file(const char* path) {
  std::ifstream file(path);
  Index number = 0;
  return file >> number ? number : 0;  // "max" is no number
}

}  // namespace

NodeMemory node_memory() {
  NodeMemory memory{kibibytes("MemTotal"), kibibytes("MemAvailable")};
  const Index limit = number_of_file("/sys/fs/cgroup/memory.max");
  if (limit > 0 && limit < memory.total) {
    memory.total = limit;
    memory.available = std::min(memory.available, limit - number_of_file("/sys/fs/cgroup/memory.current"));
  }
  return memory;
}

std::string processor_name() {
  const std::string name = value_in("/proc/cpuinfo", "model name");
  return name.empty() ? "unknown" : name;
}

NodeProcessors node_processors() {
  NodeProcessors processors{.cores = std::max(1, static_cast<int>(::sysconf(_SC_NPROCESSORS_ONLN))), .numa_nodes = 0};
  std::error_code none;
  for (const auto& entry : std::filesystem::directory_iterator("/sys/devices/system/node", none)) {
    const std::string name = entry.path().filename();
    const bool is_node = name.starts_with("node") && name.find_first_not_of("0123456789", 4) == std::string::npos;
    processors.numa_nodes += is_node ? 1 : 0;
  }
  processors.numa_nodes = std::max(1, processors.numa_nodes);
  return processors;
}

void start_with_early_settings(char** arguments) {
  std::vector<Setting> settings;
  const bool threads_wait = omp_get_max_threads() > 1;
  if (threads_wait && std::getenv("GOMP_SPINCOUNT") == nullptr && std::getenv("OMP_WAIT_POLICY") == nullptr) {
    constexpr const char* some_microseconds = "1000";
    settings.push_back({"GOMP_SPINCOUNT", some_microseconds});
  }
  if (const auto kernels = dense::better_blas_kernels()) settings.push_back({"OPENBLAS_CORETYPE", *kernels});
  restart_with(settings, arguments);
}

void share_cores(const mpi::Context& context) { omp_set_num_threads(context.topology().threads()); }

Index bytes_of_rank(const layout::Layout& layout, int rank, Index element_bytes) {
  constexpr Index most = Index{1} << 57;
  const Index bytes = layout::place_tiles(layout, rank, element_bytes).bytes;
  if (bytes <= most) return bytes;
  throw OutOfMemory(fmt::format("rank {} would hold {} of {}, more than a processor can address; use more ranks", rank,
                                bytes_text(bytes), layout::describe(layout)));
}

MemoryEstimate estimate_memory(mpi::Context& context, const std::vector<Index>& phases) {
  const Index own = phases.empty() ? 0 : *std::ranges::max_element(phases);
  const mpi::Communicator& node = context.topology().node();
  const Index most_of_rank = std::numeric_limits<Index>::max() / node.size();  // so that the sum can be counted
  const Index on_node = mpi::all_reduce(node, std::min(own, most_of_rank), mpi::Operation::sum());
  // All ranks of a node judge by the same numbers.
  const Index total = mpi::all_reduce(node, node_memory().total, mpi::Operation::minimum());
  const Index available = mpi::all_reduce(node, node_memory().available, mpi::Operation::minimum());

  mpi::agreed(context, [&] {
    if (total == 0 || on_node <= total) return;
    throw OutOfMemory(
        fmt::format("the job needs {} on the node of rank {} (for {} ranks), which has {} of memory; use "
                    "more nodes",
                    bytes_text(on_node), context.rank(), node.size(), bytes_text(total)));
  });

  MemoryEstimate estimate{mpi::all_reduce(context.comm(), own, mpi::Operation::maximum()),
                          mpi::all_reduce(context.comm(), on_node, mpi::Operation::maximum())};
  const Index missing =
      mpi::all_reduce(context.comm(), total == 0 ? Index{0} : on_node - available, mpi::Operation::maximum());
  if (missing > 0) {
    estimate.warning = fmt::format("the job needs up to {} on a node, {} more than is available there now",
                                   bytes_text(estimate.fullest_node), bytes_text(missing));
  }
  return estimate;
}

}  // namespace plait::cli
