/* Kinds of elements: how to make some of a rank, and what a reduction of them has to give, by plain loops. */
#ifndef PLAIT_TESTS_MPI_OPENMPI_ELEMENTS_H
#define PLAIT_TESTS_MPI_OPENMPI_ELEMENTS_H

#include <stddef.h>

enum operation { MAX, MIN, SUM, PROD, BAND, BOR, BXOR, LAND, LOR, LXOR, MAXLOC, MINLOC, OPERATIONS };

/* Sets of operations. */
enum {
  ARITHMETIC_OPERATIONS = 1 << MAX | 1 << MIN | 1 << SUM | 1 << PROD,
  BITWISE_OPERATIONS = 1 << BAND | 1 << BOR | 1 << BXOR,
  LOGICAL_OPERATIONS = 1 << LAND | 1 << LOR | 1 << LXOR,
  COMPLEX_OPERATIONS = 1 << SUM | 1 << PROD,
  LOCATION_OPERATIONS = 1 << MAXLOC | 1 << MINLOC
};

struct kind {
  size_t bytes;
  /* Elements of which sums and products over a few ranks are exact, but for integers, which wrap. */
  void (*make)(int rank, int n, void* elements);
  /* inout[i] = in[i] op inout[i] */
  void (*reduce)(enum operation op, int n, const void* in, void* inout);
  /* Whether they are equal, padding aside. */
  int (*equal)(int n, const void* a, const void* b);
};

extern const struct kind i8, i16, i32, i64, u8, u16, u32, u64, f32, f64, f80, c64, c128, boolean, f32_int, f64_int,
    long_int, i32_int, i16_int, f80_int, f32_f32, f64_f64;

#endif
