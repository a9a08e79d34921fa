#pragma once

#include <sys/types.h>

#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "plait/base/matrix_view.hpp"

namespace plait::bench {

/// scikit-learn's k-means in a process of its own, on the same points and from the same centres.
class ScikitLearn {
 public:
  /// Null where there is no Python that has it.
  [[nodiscard]] static std::unique_ptr<ScikitLearn> start(matrix_view<const double> points,
                                                          matrix_view<const double> centres);
  ScikitLearn(const ScikitLearn&) = delete;
  ScikitLearn& operator=(const ScikitLearn&) = delete;
  ~ScikitLearn();

  /// Returns when they are done.
  void iterate(int iterations);

 private:
  ScikitLearn(pid_t process, std::FILE* to, std::FILE* from) : process_(process), to_(to), from_(from) {}
  [[nodiscard]] bool is_told() const;

  pid_t process_;
  std::FILE* to_;
  std::FILE* from_;
};

}  // namespace plait::bench
