#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "plait/base/random.hpp"
#include "plait/learn/network/layers.hpp"

namespace plait::test {

/// From -1 to 1.
inline double uniform(std::uint64_t seed, Index i) {
  return 2 * random_uniform(seed, static_cast<std::uint64_t>(i)) - 1;
}

struct Architecture {
  std::string layers;
  learn::Volume input;
};
inline const std::vector<Architecture> architectures{
    {"dense 7 relu, dense 5 tanh, dense 3 softmax", {1, 1, 4}},
    {"dense 6 sigmoid, dense 1", {1, 1, 5}},
    {"dense 1 tanh", {1, 1, 3}},
    {"conv 3x3x2 relu, pool 2, conv 2x1x3 tanh, dense 3 softmax", {5, 7, 2}},
    {"conv 3x2x2 sigmoid, pool 2x3, dense 4, dense 1", {4, 6, 1}},
    {"pool 1x2, conv 1x3x2, dense 3 softmax", {1, 7, 1}},
};

}  // namespace plait::test
