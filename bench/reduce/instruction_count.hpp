#pragma once

#include <functional>
#include <optional>

#include "plait/base/index.hpp"

namespace plait::bench {

/// How many instructions `work` takes, counted one by one in a child process that is stopped after each of them: it
/// works on every instruction set and without hardware counters, at some 20 µs an instruction. Those that stop it are
/// among them, so that only the difference between two counts is exact. Nothing where the system does not let a process
/// trace its child.
[[nodiscard]] std::optional<Index> count_instructions(const std::function<void()>& work);

}  // namespace plait::bench
