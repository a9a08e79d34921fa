#pragma once

#include <string>

namespace plait::bench {

struct Machine {
  std::string cpu;  // model
  int cores = 0;    // that are online
  std::string isa;  // that plait's kernels use
  friend bool operator==(const Machine&, const Machine&) = default;
};

[[nodiscard]] Machine this_machine();

/// How many processes ran or wanted to run, on the average of the last minute: what a benchmark shares the machine
/// with.
[[nodiscard]] double load_average();

}  // namespace plait::bench
