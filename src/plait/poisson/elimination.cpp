#include "plait/poisson/elimination.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "plait/base/error.hpp"
#include "plait/base/loaded_library.hpp"
#include "plait/mpi/agreed.hpp"
#include "plait/poisson/coarsest.hpp"
#include "plait/poisson/problem.hpp"

namespace plait::poisson {

namespace {

struct Lapack {
  Lapack() : library("LU factors", "LAPACK", {"dgetrf_", "dgetrs_"}, {"liblapack.so.3", "liblapack.so"}, "liblapack3") {
    library.find("dgetrf_", factorize);
    library.find("dgetrs_", solve);
  }

  LoadedLibrary library;
  int (*threads)() = library.found<int()>("openblas_get_num_threads");
  void (*use_threads)(int) = library.found<void(int)>("openblas_set_num_threads");
  void (*factorize)(const int* rows, const int* columns, double* a, const int* stride, int* pivots,
                    int* info) = nullptr;
  void (*solve)(const char* which, const int* n, const int* right_sides, const double* a, const int* stride,
                const int* pivots, double* b, const int* stride_of_b, int* info, std::size_t length) = nullptr;
};

const Lapack& lapack() {
  static const Lapack loaded;
  return loaded;
}

// OpenBLAS has as many threads as this rank has cores, and other bits with each number of them: one while this lives.
class OneThread {
 public:
  OneThread() {
    if (lapack().threads == nullptr || lapack().use_threads == nullptr) return;
    before_ = lapack().threads();
    lapack().use_threads(1);
  }
  OneThread(const OneThread&) = delete;
  OneThread& operator=(const OneThread&) = delete;
  ~OneThread() {
    if (before_ > 0) lapack().use_threads(before_);
  }

 private:
  int before_ = 0;
};

}  // namespace

layout::BoxPartition Elimination::partition(const Axes& axes, int ranks) { return {box_of(axes), {1, 1, 1}, ranks}; }

template <class T>
Elimination::Elimination(mpi::Context& context, Level<T>& level) {
  const Index points = level.partition().whole().points();
  struct Memory {
    Values<T> u, none, r;
    std::vector<T> compact;
  };
  Memory memory = mpi::agreed(context, [&] {
    if (points > most_points) {
      throw ArgumentError(
          fmt::format("method: is lu, which takes at most {} points, as factors of {} would be of {:.3g} GB; expected "
                      "mg-cg or another method",
                      most_points, points, 8e-9 * std::pow(static_cast<double>(points), 2)));
    }
    static_cast<void>(lapack());
    return Memory{level.zeros(), level.zeros(), level.zeros(), std::vector<T>(at(level.own().points()))};
  });
  factors_ = matrix_of(points, !level.own().is_empty(), [&](std::span<const double> in, std::span<double> out) {
    std::ranges::transform(in, memory.compact.begin(), [](double value) { return static_cast<T>(value); });
    level.copy_in(memory.compact, memory.u);
    level.exchange(memory.u);
    level.residual(memory.u, memory.none, memory.r);
    level.copy_out(memory.r, memory.compact);
    std::ranges::transform(memory.compact, out.begin(), [](T value) { return -static_cast<double>(value); });
  });
  mpi::agreed(context, [&] {
    if (factors_.empty()) return;
    const int size = static_cast<int>(points);
    if (is_singular(level.axes())) {
      double largest = 0;
      for (std::size_t i = 0; i < factors_.size(); i += at(points) + 1) largest = std::max(largest, factors_[i]);
      const double share = (largest > 0 ? largest : 1) / static_cast<double>(points);
      for (double& value : factors_) value += share;
    }
    pivots_.resize(at(points));
    int info = 0;
    const OneThread one_thread;
    lapack().factorize(&size, &size, factors_.data(), &size, pivots_.data(), &info);
    if (info != 0) throw Error(ErrorKind::other, fmt::format("dgetrf of LAPACK failed: info is {}", info));
  });
}

void Elimination::solve(std::span<double> values) const {
  if (values.empty()) return;
  const int n = static_cast<int>(values.size()), one = 1;
  int info = 0;
  const OneThread one_thread;
  lapack().solve("N", &n, &one, factors_.data(), &n, pivots_.data(), values.data(), &n, &info, 1);
}

template Elimination::Elimination(mpi::Context&, Level<float>&);
template Elimination::Elimination(mpi::Context&, Level<double>&);

}  // namespace plait::poisson
