#pragma once

#include <mpi.h>

#include <complex>
#include <cstdint>

/// ScaLAPACK's own routines and plait's side by side, under the names that they have in libraries. ScaLAPACK has no
/// headers.
extern "C" {
int Csys2blacs_handle(MPI_Comm comm);
void Cblacs_gridmap(int* context, int* ranks, int leading_dimension, int rows, int columns);
void Cblacs_gridinit(int* context, const char* order, int rows, int columns);
void Cblacs_gridexit(int context);
void Cblacs_gridinfo(int context, int* rows, int* columns, int* my_row, int* my_column);

#define PLAIT_TEST_COPIES(type)                                                                                       \
  void Cp##type##gemr2d(int, int, const void*, int, int, const int*, void*, int, int, const int*, int);               \
  void plait_Cp##type##gemr2d(int, int, const void*, int, int, const int*, void*, int, int, const int*, int);         \
  void p##type##gemr2d_(const int*, const int*, const void*, const int*, const int*, const int*, void*, const int*,   \
                        const int*, const int*, const int*);                                                          \
  void plait_p##type##gemr2d_(const int*, const int*, const void*, const int*, const int*, const int*, void*,         \
                              const int*, const int*, const int*, const int*);                                        \
  void Cp##type##trmr2d(const char*, const char*, int, int, const void*, int, int, const int*, void*, int, int,       \
                        const int*, int);                                                                             \
  void plait_Cp##type##trmr2d(const char*, const char*, int, int, const void*, int, int, const int*, void*, int, int, \
                              const int*, int);
PLAIT_TEST_COPIES(i)
PLAIT_TEST_COPIES(s)
PLAIT_TEST_COPIES(d)
PLAIT_TEST_COPIES(c)
PLAIT_TEST_COPIES(z)
#undef PLAIT_TEST_COPIES

#define PLAIT_TEST_ADD_ARGUMENTS                                                                            \
  const int*, const int*, const void*, const void*, const int*, const int*, const int*, const void*, void*, \
      const int*, const int*, const int*
#define PLAIT_TEST_ADDS(type, transpose)                                    \
  void p##type##transpose##_(PLAIT_TEST_ADD_ARGUMENTS);                     \
  void plait_p##type##transpose##_(PLAIT_TEST_ADD_ARGUMENTS);               \
  void p##type##geadd_(const char*, PLAIT_TEST_ADD_ARGUMENTS);              \
  void plait_p##type##geadd_(const char*, PLAIT_TEST_ADD_ARGUMENTS);        \
  void p##type##tradd_(const char*, const char*, PLAIT_TEST_ADD_ARGUMENTS); \
  void plait_p##type##tradd_(const char*, const char*, PLAIT_TEST_ADD_ARGUMENTS);
PLAIT_TEST_ADDS(s, tran)
PLAIT_TEST_ADDS(d, tran)
PLAIT_TEST_ADDS(c, tranu)
PLAIT_TEST_ADDS(z, tranu)
void pctranc_(PLAIT_TEST_ADD_ARGUMENTS);
void plait_pctranc_(PLAIT_TEST_ADD_ARGUMENTS);
void pztranc_(PLAIT_TEST_ADD_ARGUMENTS);
void plait_pztranc_(PLAIT_TEST_ADD_ARGUMENTS);

#define PLAIT_TEST_GEMM_ARGUMENTS                                                                                 \
  const char*, const char*, const int*, const int*, const int*, const void*, const void*, const int*, const int*, \
      const int*, const void*, const int*, const int*, const int*, const void*, void*, const int*, const int*,    \
      const int*
#define PLAIT_TEST_GEMM(type)                     \
  void p##type##gemm_(PLAIT_TEST_GEMM_ARGUMENTS); \
  void plait_p##type##gemm_(PLAIT_TEST_GEMM_ARGUMENTS);
PLAIT_TEST_GEMM(s)
PLAIT_TEST_GEMM(d)
PLAIT_TEST_GEMM(c)
PLAIT_TEST_GEMM(z)
#undef PLAIT_TEST_GEMM
#undef PLAIT_TEST_ADDS
}

namespace plait::test {

using Gemr2d = void(int, int, const void*, int, int, const int*, void*, int, int, const int*, int);
using Trmr2d = void(const char*, const char*, int, int, const void*, int, int, const int*, void*, int, int, const int*,
                    int);
using Tran = void(PLAIT_TEST_ADD_ARGUMENTS);
using Geadd = void(const char*, PLAIT_TEST_ADD_ARGUMENTS);
using Tradd = void(const char*, const char*, PLAIT_TEST_ADD_ARGUMENTS);
using Gemm = void(PLAIT_TEST_GEMM_ARGUMENTS);
#undef PLAIT_TEST_GEMM_ARGUMENTS
#undef PLAIT_TEST_ADD_ARGUMENTS

/// A routine of ScaLAPACK, and plait's.
template <class F>
struct Both {
  F* real;
  F* plait;
};

/// The routines of an element type.
template <class T>
struct Routines;
template <>
struct Routines<std::int32_t> {
  static constexpr Both<Gemr2d> gemr2d{Cpigemr2d, plait_Cpigemr2d};
  static constexpr Both<Trmr2d> trmr2d{Cpitrmr2d, plait_Cpitrmr2d};
};
#define PLAIT_TEST_ROUTINES(T, type, transpose, conjugate_transpose)                                           \
  template <>                                                                                                  \
  struct Routines<T> {                                                                                         \
    static constexpr Both<Gemr2d> gemr2d{Cp##type##gemr2d, plait_Cp##type##gemr2d};                            \
    static constexpr Both<Trmr2d> trmr2d{Cp##type##trmr2d, plait_Cp##type##trmr2d};                            \
    static constexpr Both<Tran> tran{p##type##transpose##_, plait_p##type##transpose##_};                      \
    static constexpr Both<Tran> tranc{p##type##conjugate_transpose##_, plait_p##type##conjugate_transpose##_}; \
    static constexpr Both<Geadd> geadd{p##type##geadd_, plait_p##type##geadd_};                                \
    static constexpr Both<Tradd> tradd{p##type##tradd_, plait_p##type##tradd_};                                \
    static constexpr Both<Gemm> gemm{p##type##gemm_, plait_p##type##gemm_};                                    \
  };
PLAIT_TEST_ROUTINES(float, s, tran, tran)
PLAIT_TEST_ROUTINES(double, d, tran, tran)
PLAIT_TEST_ROUTINES(std::complex<float>, c, tranu, tranc)
PLAIT_TEST_ROUTINES(std::complex<double>, z, tranu, tranc)
#undef PLAIT_TEST_ROUTINES

}  // namespace plait::test
