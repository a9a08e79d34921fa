/* The types of MPI that have predefined operations, and of which kind each is. */
#ifndef PLAIT_TESTS_MPI_OPENMPI_TYPES_H
#define PLAIT_TESTS_MPI_OPENMPI_TYPES_H

/* No two runs of clang-format agree on lists like these. */
/* clang-format off */
#define INTEGERS(X) \
  X(SIGNED_CHAR, i8) X(SHORT, i16) X(INT, i32) X(LONG, i64) X(LONG_LONG, i64) \
  X(INT8_T, i8) X(INT16_T, i16) X(INT32_T, i32) X(INT64_T, i64) \
  X(UNSIGNED_CHAR, u8) X(UNSIGNED_SHORT, u16) X(UNSIGNED, u32) X(UNSIGNED_LONG, u64) X(UNSIGNED_LONG_LONG, u64) \
  X(UINT8_T, u8) X(UINT16_T, u16) X(UINT32_T, u32) X(UINT64_T, u64)

#define FORTRAN_INTEGERS(X) \
  X(INTEGER, i32) X(INTEGER1, i8) X(INTEGER2, i16) X(INTEGER4, i32) X(INTEGER8, i64) \
  X(AINT, i64) X(COUNT, i64) X(OFFSET, i64)

#define FLOATS(X) \
  X(FLOAT, f32) X(DOUBLE, f64) X(LONG_DOUBLE, f80) \
  X(REAL, f32) X(REAL4, f32) X(REAL8, f64) X(DOUBLE_PRECISION, f64)

#define COMPLEX_NUMBERS(X) \
  X(C_FLOAT_COMPLEX, c64) X(C_DOUBLE_COMPLEX, c128) \
  X(COMPLEX, c64) X(DOUBLE_COMPLEX, c128) X(COMPLEX8, c64) X(COMPLEX16, c128)

#define BOOLEANS(X) X(C_BOOL, boolean) X(CXX_BOOL, boolean) X(LOGICAL, i32)

#define PAIRS(X) \
  X(FLOAT_INT, f32_int) X(DOUBLE_INT, f64_int) X(LONG_INT, long_int) X(2INT, i32_int) X(SHORT_INT, i16_int) \
  X(LONG_DOUBLE_INT, f80_int) X(2REAL, f32_f32) X(2DOUBLE_PRECISION, f64_f64) X(2INTEGER, i32_int)
/* clang-format on */

#endif
