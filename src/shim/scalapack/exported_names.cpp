// The routines under ScaLAPACK's names, as Fortran compilers spell them and as C programs call them, and under the same
// names with plait_ in front. ScaLAPACK has no header; its documentation gives the arguments. Fortran passes the
// lengths of strings after all other arguments, where they do no harm.
#include <complex>
#include <exception>
#include <optional>
#include <string>

#include "plait/base/index.hpp"
#include "plait/base/stopwatch.hpp"

#include "shim/scalapack/copy.hpp"
#include "shim/scalapack/execution.hpp"
#include "shim/scalapack/pblas.hpp"
#include "shim/scalapack/program.hpp"
#include "shim/scalapack/summary.hpp"

namespace {

using plait::Index;
using plait::redistribute::Op;
using plait::redistribute::Trapezoid;
using plait::shim::scalapack::AddCall;
using plait::shim::scalapack::CopyCall;
using plait::shim::scalapack::loaded;
using plait::shim::scalapack::MultiplyCall;
using plait::shim::scalapack::PassOn;
using plait::shim::scalapack::Summary;

using C = std::complex<float>;
using Z = std::complex<double>;

// Signatures. Elements are void where the routines of all types are defined alike.
using Gemr2d = void(int, int, const void*, int, int, const int*, void*, int, int, const int*, int);
using Trmr2d = void(const char*, const char*, int, int, const void*, int, int, const int*, void*, int, int, const int*,
                    int);
using Tran = void(const int*, const int*, const void*, const void*, const int*, const int*, const int*, const void*,
                  void*, const int*, const int*, const int*);
using Geadd = void(const char*, const int*, const int*, const void*, const void*, const int*, const int*, const int*,
                   const void*, void*, const int*, const int*, const int*);
using Tradd = void(const char*, const char*, const int*, const int*, const void*, const void*, const int*, const int*,
                   const int*, const void*, void*, const int*, const int*, const int*);
using Gemm = void(const char*, const char*, const int*, const int*, const int*, const void*, const void*, const int*,
                  const int*, const int*, const void*, const int*, const int*, const int*, const void*, void*,
                  const int*, const int*, const int*);

/// What every exported routine does: tries to do the work, and passes the call on where that can't be. What fails on
/// this process alone ends the program: others would wait for it.
///
/// \param work     returns how many bytes the call was about; throws `PassOn` before anything was changed
/// \param pass_on  calls the real routine
template <class Work, class Real>
void serve(const std::string& routine, Work&& work, Real&& pass_on) {
  try {
    try {
      const plait::Stopwatch stopwatch;
      const Index bytes = work();
      Summary::of_program().served(routine, bytes, stopwatch.seconds());
    } catch (const PassOn& call) {
      Summary::of_program().passed_on(routine, call.reason);
      pass_on();
    }
  } catch (const std::exception& error) {
    plait::shim::scalapack::end_program(routine + ": " + error.what());
  }
}

Index bytes_of(int m, int n, Index element_bytes, const std::optional<Trapezoid>& part = {}) {
  return (part ? part->elements({m, n}) : Index{m} * n) * element_bytes;
}

Index copied(const CopyCall& call, Index element_bytes) {
  plait::shim::scalapack::copy(call, element_bytes);
  return bytes_of(call.m, call.n, element_bytes, call.part);
}

void gemr2d(const std::string& name, Index element_bytes, const CopyCall& call) {
  serve(
      name, [&] { return copied(call, element_bytes); },
      [&] {
        loaded<Gemr2d>("C" + name)(call.m, call.n, call.a.array, call.a.i, call.a.j, call.a.desc, call.b.array,
                                   call.b.i, call.b.j, call.b.desc, call.union_context);
      });
}

void trmr2d(const std::string& name, Index element_bytes, const char* uplo, const char* diag, CopyCall call) {
  serve(
      name,
      [&] {
        call.part = plait::shim::scalapack::trmr2d_part(*uplo, *diag, call.m, call.n);
        return copied(call, element_bytes);
      },
      [&] {
        loaded<Trmr2d>("C" + name)(uplo, diag, call.m, call.n, call.a.array, call.a.i, call.a.j, call.a.desc,
                                   call.b.array, call.b.i, call.b.j, call.b.desc, call.union_context);
      });
}

template <class T>
AddCall<T> add_call(const int* m, const int* n, const void* alpha, const void* a, const int* ia, const int* ja,
                    const int* desc_a, const void* beta, void* c, const int* ic, const int* jc, const int* desc_c) {
  return {*m,
          *n,
          *static_cast<const T*>(alpha),
          {static_cast<const T*>(a), *ia, *ja, desc_a},
          *static_cast<const T*>(beta),
          {static_cast<T*>(c), *ic, *jc, desc_c}};
}

template <class T>
Index added(const AddCall<T>& call, Op op) {
  plait::shim::scalapack::add(call, op);
  return bytes_of(call.m, call.n, sizeof(T), call.part);
}

template <class T, class Pass>
void tran(const std::string& name, Op op, const AddCall<T>& call, Pass&& pass_on) {
  serve(name, [&] { return added(call, op); }, [&] { pass_on(loaded<Tran>(name + "_")); });
}

template <class T, class Pass>
void geadd(const std::string& name, const char* trans, const AddCall<T>& call, Pass&& pass_on) {
  serve(
      name, [&] { return added(call, plait::shim::scalapack::op_of(*trans)); },
      [&] { pass_on(loaded<Geadd>(name + "_")); });
}

template <class T, class Pass>
void tradd(const std::string& name, const char* uplo, const char* trans, AddCall<T> call, Pass&& pass_on) {
  serve(
      name,
      [&] {
        call.part = plait::shim::scalapack::triangle_of(*uplo);
        return added(call, plait::shim::scalapack::op_of(*trans));
      },
      [&] { pass_on(loaded<Tradd>(name + "_")); });
}

template <class T, class Pass>
void gemm(const std::string& name, const MultiplyCall<T>& call, Pass&& pass_on) {
  serve(
      name,
      [&] {
        plait::shim::scalapack::multiply(call);
        return bytes_of(call.m, call.k, sizeof(T)) + bytes_of(call.k, call.n, sizeof(T)) +
               bytes_of(call.m, call.n, sizeof(T));
      },
      [&] { pass_on(loaded<Gemm>(name + "_")); });
}

// From the start, so that programs that call nothing of this are told as well: of another MPI than theirs, and by a
// summary.
[[gnu::constructor]] void begin() {
  plait::shim::scalapack::expect_mpi_of_program();
  static_cast<void>(plait::shim::scalapack::Summary::of_program());
}

}  // namespace

// NOLINTBEGIN(bugprone-macro-parentheses,cppcoreguidelines-macro-usage): names are made of pieces

// The other names of plait_<name>_, a Fortran routine: `lower` and `UPPER` are its name in both cases.
#define PLAIT_NAMES(signature, lower, UPPER)                                          \
  extern "C" signature plait_##lower __attribute__((alias("plait_" #lower "_")));     \
  extern "C" signature plait_##lower##__ __attribute__((alias("plait_" #lower "_"))); \
  extern "C" signature PLAIT_##UPPER __attribute__((alias("plait_" #lower "_")));     \
  extern "C" signature lower##_ __attribute__((alias("plait_" #lower "_")));          \
  extern "C" signature lower __attribute__((alias("plait_" #lower "_")));             \
  extern "C" signature lower##__ __attribute__((alias("plait_" #lower "_")));         \
  extern "C" signature UPPER __attribute__((alias("plait_" #lower "_")));

using FortranGemr2d = void(const int*, const int*, const void*, const int*, const int*, const int*, void*, const int*,
                           const int*, const int*, const int*);
using FortranTrmr2d = void(const char*, const char*, const int*, const int*, const void*, const int*, const int*,
                           const int*, void*, const int*, const int*, const int*, const int*);

#define PLAIT_GEMR2D(lower, UPPER, element_bytes)                                                                 \
  extern "C" void plait_C##lower(int m, int n, const void* a, int ia, int ja, const int* desc_a, void* b, int ib, \
                                 int jb, const int* desc_b, int context) {                                        \
    gemr2d(#lower, element_bytes, {m, n, {a, ia, ja, desc_a}, {b, ib, jb, desc_b}, context});                     \
  }                                                                                                               \
  extern "C" Gemr2d C##lower __attribute__((alias("plait_C" #lower)));                                            \
  extern "C" void plait_##lower##_(const int* m, const int* n, const void* a, const int* ia, const int* ja,       \
                                   const int* desc_a, void* b, const int* ib, const int* jb, const int* desc_b,   \
                                   const int* context) {                                                          \
    gemr2d(#lower, element_bytes, {*m, *n, {a, *ia, *ja, desc_a}, {b, *ib, *jb, desc_b}, *context});              \
  }                                                                                                               \
  PLAIT_NAMES(FortranGemr2d, lower, UPPER)

#define PLAIT_TRMR2D(lower, UPPER, element_bytes)                                                                 \
  extern "C" void plait_C##lower(const char* uplo, const char* diag, int m, int n, const void* a, int ia, int ja, \
                                 const int* desc_a, void* b, int ib, int jb, const int* desc_b, int context) {    \
    trmr2d(#lower, element_bytes, uplo, diag, {m, n, {a, ia, ja, desc_a}, {b, ib, jb, desc_b}, context});         \
  }                                                                                                               \
  extern "C" Trmr2d C##lower __attribute__((alias("plait_C" #lower)));                                            \
  extern "C" void plait_##lower##_(const char* uplo, const char* diag, const int* m, const int* n, const void* a, \
                                   const int* ia, const int* ja, const int* desc_a, void* b, const int* ib,       \
                                   const int* jb, const int* desc_b, const int* context) {                        \
    trmr2d(#lower, element_bytes, uplo, diag, {*m, *n, {a, *ia, *ja, desc_a}, {b, *ib, *jb, desc_b}, *context});  \
  }                                                                                                               \
  PLAIT_NAMES(FortranTrmr2d, lower, UPPER)

#define PLAIT_ADD_PARAMETERS                                                                                     \
  const int *m, const int *n, const void *alpha, const void *a, const int *ia, const int *ja, const int *desc_a, \
      const void *beta, void *c, const int *ic, const int *jc, const int *desc_c
#define PLAIT_ADD_ARGUMENTS m, n, alpha, a, ia, ja, desc_a, beta, c, ic, jc, desc_c

#define PLAIT_TRAN(lower, UPPER, T, op)                                                                 \
  extern "C" void plait_##lower##_(PLAIT_ADD_PARAMETERS) {                                              \
    tran(#lower, op, add_call<T>(PLAIT_ADD_ARGUMENTS), [&](Tran* real) { real(PLAIT_ADD_ARGUMENTS); }); \
  }                                                                                                     \
  PLAIT_NAMES(Tran, lower, UPPER)

#define PLAIT_GEADD(lower, UPPER, T)                                                                                \
  extern "C" void plait_##lower##_(const char* trans, PLAIT_ADD_PARAMETERS) {                                       \
    geadd(#lower, trans, add_call<T>(PLAIT_ADD_ARGUMENTS), [&](Geadd* real) { real(trans, PLAIT_ADD_ARGUMENTS); }); \
  }                                                                                                                 \
  PLAIT_NAMES(Geadd, lower, UPPER)

#define PLAIT_TRADD(lower, UPPER, T)                                                            \
  extern "C" void plait_##lower##_(const char* uplo, const char* trans, PLAIT_ADD_PARAMETERS) { \
    tradd(#lower, uplo, trans, add_call<T>(PLAIT_ADD_ARGUMENTS),                                \
          [&](Tradd* real) { real(uplo, trans, PLAIT_ADD_ARGUMENTS); });                        \
  }                                                                                             \
  PLAIT_NAMES(Tradd, lower, UPPER)

#define PLAIT_GEMM_PARAMETERS                                                                                      \
  const char *trans_a, const char *trans_b, const int *m, const int *n, const int *k, const void *alpha,           \
      const void *a, const int *ia, const int *ja, const int *desc_a, const void *b, const int *ib, const int *jb, \
      const int *desc_b, const void *beta, void *c, const int *ic, const int *jc, const int *desc_c
#define PLAIT_GEMM(lower, UPPER, T)                                                                          \
  extern "C" void plait_##lower##_(PLAIT_GEMM_PARAMETERS) {                                                  \
    const MultiplyCall<T> call{*trans_a,                                                                     \
                               *trans_b,                                                                     \
                               *m,                                                                           \
                               *n,                                                                           \
                               *k,                                                                           \
                               *static_cast<const T*>(alpha),                                                \
                               {static_cast<const T*>(a), *ia, *ja, desc_a},                                 \
                               {static_cast<const T*>(b), *ib, *jb, desc_b},                                 \
                               *static_cast<const T*>(beta),                                                 \
                               {static_cast<T*>(c), *ic, *jc, desc_c}};                                      \
    gemm<T>(#lower, call, [&](Gemm* real) {                                                                  \
      real(trans_a, trans_b, m, n, k, alpha, a, ia, ja, desc_a, b, ib, jb, desc_b, beta, c, ic, jc, desc_c); \
    });                                                                                                      \
  }                                                                                                          \
  PLAIT_NAMES(Gemm, lower, UPPER)

PLAIT_GEMR2D(pigemr2d, PIGEMR2D, 4)
PLAIT_GEMR2D(psgemr2d, PSGEMR2D, 4)
PLAIT_GEMR2D(pdgemr2d, PDGEMR2D, 8)
PLAIT_GEMR2D(pcgemr2d, PCGEMR2D, 8)
PLAIT_GEMR2D(pzgemr2d, PZGEMR2D, 16)

PLAIT_TRMR2D(pitrmr2d, PITRMR2D, 4)
PLAIT_TRMR2D(pstrmr2d, PSTRMR2D, 4)
PLAIT_TRMR2D(pdtrmr2d, PDTRMR2D, 8)
PLAIT_TRMR2D(pctrmr2d, PCTRMR2D, 8)
PLAIT_TRMR2D(pztrmr2d, PZTRMR2D, 16)

PLAIT_TRAN(pstran, PSTRAN, float, Op::transpose)
PLAIT_TRAN(pdtran, PDTRAN, double, Op::transpose)
PLAIT_TRAN(pctranu, PCTRANU, C, Op::transpose)
PLAIT_TRAN(pztranu, PZTRANU, Z, Op::transpose)
PLAIT_TRAN(pctranc, PCTRANC, C, Op::conjugate_transpose)
PLAIT_TRAN(pztranc, PZTRANC, Z, Op::conjugate_transpose)

PLAIT_GEADD(psgeadd, PSGEADD, float)
PLAIT_GEADD(pdgeadd, PDGEADD, double)
PLAIT_GEADD(pcgeadd, PCGEADD, C)
PLAIT_GEADD(pzgeadd, PZGEADD, Z)

PLAIT_TRADD(pstradd, PSTRADD, float)
PLAIT_TRADD(pdtradd, PDTRADD, double)
PLAIT_TRADD(pctradd, PCTRADD, C)
PLAIT_TRADD(pztradd, PZTRADD, Z)

PLAIT_GEMM(psgemm, PSGEMM, float)
PLAIT_GEMM(pdgemm, PDGEMM, double)
PLAIT_GEMM(pcgemm, PCGEMM, C)
PLAIT_GEMM(pzgemm, PZGEMM, Z)

#undef PLAIT_GEMM
#undef PLAIT_GEMM_PARAMETERS
#undef PLAIT_TRADD
#undef PLAIT_GEADD
#undef PLAIT_TRAN
#undef PLAIT_ADD_ARGUMENTS
#undef PLAIT_ADD_PARAMETERS
#undef PLAIT_TRMR2D
#undef PLAIT_GEMR2D
#undef PLAIT_NAMES

// NOLINTEND(bugprone-macro-parentheses,cppcoreguidelines-macro-usage)
