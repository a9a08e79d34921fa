#include "shim/scalapack/products.hpp"

#include <charconv>
#include <cstdio>
#include <span>
#include <string_view>

#include <fmt/format.h>

#include "plait/mpi/collectives.hpp"

#include "shim/own_rank.hpp"
#include "shim/settings.hpp"

namespace plait::shim::scalapack {

namespace {

constexpr const char* variable = "PLAIT_GEMM_FROM";

int read_setting() {
  const std::string_view setting = environment(variable);
  if (setting.empty()) return usual_least_order;
  int order = 0;
  const auto [end, error] = std::from_chars(setting.data(), setting.data() + setting.size(), order);
  if (error == std::errc() && end == setting.data() + setting.size() && order >= 0) return order;
  OwnRank rank;
  rank.learn();
  if (rank.is_zero()) {
    std::fputs(
        fmt::format("plait: warning: environment variable {} is '{}', expected the order of a matrix, from 0 on; "
                    "products are served from {} on\n",
                    variable, setting, usual_least_order)
            .c_str(),
        stderr);
  }
  return usual_least_order;
}

}  // namespace

int least_order(const mpi::Communicator& comm) {
  static const int own = read_setting();
  int order = own;
  mpi::broadcast(comm, std::span(&order, 1), 0);
  return order;
}

}  // namespace plait::shim::scalapack
