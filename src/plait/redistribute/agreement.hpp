#pragma once

namespace plait::redistribute {

/// Whether the ranks have to agree, in all-reduces, that all of them can do what they are asked for.
enum class Agreement : unsigned char {
  /// Whatever one rank gets wrong, all of them throw.
  needed,
  /// For callers whose ranks can't differ but in what fails on them. What went wrong in planning is told when the first
  /// execution starts: in one all-reduce, with the same error on all ranks. What fails on a rank
  /// after that, memory for its graph and for staging included, `wait` throws on that rank alone, while the others wait
  /// for it: the caller ends the program.
  once,
  /// For callers whose ranks can't differ, who have executed the plan with operands of these sizes before, and whose
  /// operations do not throw: nothing is communicated but the data. What fails, memory for instance, fails on that rank
  /// alone, and the others wait for it: the caller ends the program.
  reached,
};

}  // namespace plait::redistribute
