#pragma once

#include <vector>

#include "mpi/schedule/program.hpp"

namespace plait::test {

/// Which earlier parts of a rank a new one has to wait for: those that wrote what it reads or writes, and those that
/// read what it writes.
class Hazards {
 public:
  void add_slot(Index words);

  /// Part numbers, ascending, each once.
  [[nodiscard]] std::vector<int> before(const Part& part) const;
  /// From now on `part` has read and written what it says.
  void record(const Part& part);

 private:
  struct Word {
    int writer = -1;
    std::vector<int> readers{};  // since it was written
  };
  std::vector<std::vector<Word>> slots_;
};

}  // namespace plait::test
