// What bench/sinkhorn/cache_misses.py counts the cache misses of: the rescaling of rows, that of columns by each of the
// algorithms, and iterations, each by `counted_call` on a matrix that no cache has. Prints the MPI library, the
// instruction set, and a line for each in their order: who rescales, what, the extent of the matrix.
//
//   rescaling_calls [--quick]

#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

#include "plait/mpi/environment.hpp"
#include "plait/simd/isa.hpp"

#include "bench/sinkhorn/rescaled_matrix.hpp"

namespace {

using namespace plait;
using bench::Algorithm;
using bench::Part;

struct Call {
  bench::RescaledMatrix* matrix;
  Algorithm algorithm;
  Part part;
};

}  // namespace

/// By this name callgrind knows when to count.
extern "C" void counted_call(const Call* call) {
  if (call->part == Part::rows) {
    call->matrix->rescale_rows();
  } else if (call->part == Part::columns) {
    call->matrix->rescale_columns(call->algorithm);
  } else {
    call->matrix->iterate();
  }
}

namespace {

void count(Index n, Algorithm algorithm, Part part, const char* what) {
  bench::RescaledMatrix matrix(n, 1.0);
  if (part == Part::both) matrix.make(algorithm);
  const Call call{&matrix, algorithm, part};
  void (*volatile counted)(const Call*) = counted_call;  // so that no compiler inlines it, or calls a clone
  counted(&call);
  std::printf("%s %s %d\n", std::string(bench::name(algorithm)).c_str(), what, static_cast<int>(n));
}

}  // namespace

int main(int argc, char** argv) {
  std::printf("%s\n%s\n", mpi::library_version().c_str(), std::string(simd::name(simd::selected_isa())).c_str());
  const bool is_quick = argc == 2 && std::string_view(argv[1]) == "--quick";
  for (const Index n : is_quick ? std::vector<Index>{67} : std::vector<Index>{1000, 2000, 4000}) {
    count(n, Algorithm::typical, Part::rows, "rows");
    for (const Algorithm algorithm : {Algorithm::typical, Algorithm::by_rows, Algorithm::blocked}) {
      count(n, algorithm, Part::columns, "columns");
    }
    for (const Algorithm algorithm : {Algorithm::typical, Algorithm::by_rows, Algorithm::blocked, Algorithm::scaling}) {
      count(n, algorithm, Part::both, "iteration");
    }
  }
  return 0;
}
