// bad_arguments CASE real|plait: calls a routine as it must not be called, and so ends as ScaLAPACK ends programs.
#include <cstdio>
#include <map>
#include <string>
#include <vector>

#include "tests/mpi/scalapack/scalapack.hpp"

namespace {

using plait::test::Routines;

struct Call {
  int m = 8;
  int n = 8;
  int ia = 1;
  int ja = 1;
  std::vector<int> desc_a;
  std::vector<int> desc_c;
  char uplo = 'U';
  char trans = 'N';
};

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0;
  int size = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (argc != 3) return 2;
  const std::string name = argv[1];
  const bool real = argv[2] == std::string("real");

  int context = Csys2blacs_handle(MPI_COMM_WORLD);
  int other = context;
  Cblacs_gridinit(&context, "R", size, 1);
  Cblacs_gridinit(&other, "R", 1, size);
  Call call;
  call.desc_a = call.desc_c = {1, context, 8, 8, 2, 2, 0, 0, 8};
  enum Entry { type, grid, rows, columns, block_rows, block_columns, first_row, first_column, leading_dimension };

  const std::map<std::string, void (*)(Call&, int)> mistakes{
      {"leading-dimension", [](Call& c, int of) { c.desc_a[leading_dimension] = of == 1 ? 1 : 8; }},
      {"outside", [](Call& c, int) { c.ia = 2; }},
      {"outside-of-one", [](Call& c, int of) { c.ia = of == 1 ? 2 : 1; }},
      {"negative", [](Call& c, int) { c.m = -3; }},
      {"negative-of-one", [](Call& c, int of) { c.m = of == 1 ? -3 : 8; }},
      {"type", [](Call& c, int) { c.desc_c[type] = 501; }},
      {"type-of-one", [](Call& c, int of) { c.desc_c[type] = of == 1 ? 501 : 1; }},
      {"no-context", [](Call& c, int) { c.desc_a[grid] = 12345; }},
      {"no-context-of-one", [](Call& c, int of) { c.desc_a[grid] = of == 1 ? -1 : c.desc_a[grid]; }},
      {"no-second-context-of-one", [](Call& c, int of) { c.desc_c[grid] = of == 1 ? -1 : c.desc_c[grid]; }},
      {"block", [](Call& c, int) { c.desc_c[block_columns] = 0; }},
      {"first-row", [](Call& c, int) { c.desc_a[first_row] = 17; }},
      {"first-column-of-one", [](Call& c, int of) { c.desc_c[first_column] = of == 0 ? -1 : 0; }},
      {"uplo", [](Call& c, int) { c.uplo = 'x'; }},
      {"uplo-of-one", [](Call& c, int of) { c.uplo = of == 1 ? 'x' : 'U'; }},
      {"trans", [](Call& c, int) { c.trans = 'x'; }},
      {"ja", [](Call& c, int) { c.ja = 0; }}};
  const std::string routine = name.substr(0, name.find(':'));
  mistakes.at(name.substr(name.find(':') + 1))(call, rank);

  std::vector<double> a(64, 1);
  std::vector<double> c(64, 2);
  const double alpha = 1;
  const int one = 1;
  using R = Routines<double>;
  const auto tran = real ? R::tran.real : R::tran.plait;
  const auto geadd = real ? R::geadd.real : R::geadd.plait;
  const auto tradd = real ? R::tradd.real : R::tradd.plait;
  const auto gemr2d = real ? R::gemr2d.real : R::gemr2d.plait;
  const auto trmr2d = real ? R::trmr2d.real : R::trmr2d.plait;
  const auto gemm = real ? R::gemm.real : R::gemm.plait;
  const int* const da = call.desc_a.data();
  const int* const dc = call.desc_c.data();
  if (routine == "tran") {
    tran(&call.m, &call.n, &alpha, a.data(), &call.ia, &call.ja, da, &alpha, c.data(), &one, &one, dc);
  } else if (routine == "geadd") {
    geadd(&call.trans, &call.m, &call.n, &alpha, a.data(), &call.ia, &call.ja, da, &alpha, c.data(), &one, &one, dc);
  } else if (routine == "tradd") {
    tradd(&call.uplo, &call.trans, &call.m, &call.n, &alpha, a.data(), &call.ia, &call.ja, da, &alpha, c.data(), &one,
          &one, dc);
  } else if (routine == "gemm") {
    gemm(&call.trans, &call.trans, &call.m, &call.n, &call.n, &alpha, a.data(), &call.ia, &call.ja, da, a.data(), &one,
         &one, da, &alpha, c.data(), &one, &one, dc);
  } else if (routine == "trmr2d") {
    trmr2d(&call.uplo, "N", call.m, call.n, a.data(), call.ia, call.ja, da, c.data(), 1, 1, dc, other);
  } else {
    gemr2d(call.m, call.n, a.data(), call.ia, call.ja, da, c.data(), 1, 1, dc, other);
  }
  std::puts("went on");
  MPI_Finalize();
  return 0;
}
