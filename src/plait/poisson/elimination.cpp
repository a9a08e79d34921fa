#include "plait/poisson/elimination.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "plait/base/error.hpp"
#include "plait/base/loaded_library.hpp"
#include "plait/mpi/agreed.hpp"
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
Elimination::Elimination(mpi::Context& context, const Level<T>& level) {
  mpi::agreed(context, [&] {
    const layout::Box& box = level.own();
    const Index points = level.partition().whole().points();
    if (points > most_points) {
      throw ArgumentError(
          fmt::format("method: is lu, which takes at most {} points, as factors of {} would be of {:.3g} GB; expected "
                      "mg-cg or another method",
                      most_points, points, 8e-9 * std::pow(static_cast<double>(points), 2)));
    }
    const Lapack& routines = lapack();
    if (box.is_empty()) return;
    const std::size_t n = at(points);
    factors_.resize(n * n);
    pivots_.resize(n);
    const Axes& axes = level.axes();
    double largest = 0;
    std::size_t p = 0;
    for (Index i = 0; i < box.high[0]; ++i) {
      for (Index j = 0; j < box.high[1]; ++j) {
        for (Index x = 0; x < box.high[2]; ++x, ++p) {
          for (std::size_t a = 0; a < layout::axes; ++a) {
            for (const Index side : {0, 1}) {
              layout::Point next{i, j, x}, face = next;
              face[a] += side;
              const double c = level.conductance(static_cast<int>(a), face) / axes[a].width(next[a]);
              factors_[p * n + p] += c;
              next[a] += 2 * side - 1;
              if (axes[a].is_periodic()) next[a] = (next[a] + axes[a].extent()) % axes[a].extent();
              if (c != 0 && box.contains(next)) factors_[at(box.offset_of(next)) * n + p] -= c;
            }
          }
          largest = std::max(largest, factors_[p * n + p]);
        }
      }
    }
    if (is_singular(axes)) {
      const double share = (largest > 0 ? largest : 1) / static_cast<double>(n);
      for (double& value : factors_) value += share;
    }
    const int size = static_cast<int>(n);
    int info = 0;
    const OneThread one_thread;
    routines.factorize(&size, &size, factors_.data(), &size, pivots_.data(), &info);
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

template Elimination::Elimination(mpi::Context&, const Level<float>&);
template Elimination::Elimination(mpi::Context&, const Level<double>&);

}  // namespace plait::poisson
