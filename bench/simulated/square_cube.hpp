#pragma once

#include <functional>
#include <string>

#include "plait/base/index.hpp"
#include "plait/dense/symm/options.hpp"
#include "plait/mpi/context.hpp"

namespace plait::bench {

/// D² and D³ of a symmetric n × n matrix of doubles on ranks of a node each, of which nobody looks at an element:
/// products take the time of their operations, messages theirs, and nothing else takes any.
struct SimulatedSquareCube {
  Index n;
  dense::symm::Options options;
};

/// What a rank does once, and the bytes that the busiest rank sends or receives if its messages are plait's own.
struct PreparedSquareCube {
  std::function<void()> run;
  double busiest_bytes;
};

/// \param algorithm  "algorithm-3", "algorithm-4", "algorithm-5", "algorithm-6", "own"
/// \throws ArgumentError  there is no such algorithm
[[nodiscard]] dense::symm::Algorithm parse_square_cube(const std::string& algorithm);

/// Collective over the context, which outlives what is returned.
[[nodiscard]] PreparedSquareCube prepare(mpi::Context& context, const SimulatedSquareCube& task);

}  // namespace plait::bench
