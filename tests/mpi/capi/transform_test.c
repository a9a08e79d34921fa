#include <complex.h>
#include <stdlib.h>

#include "mpi/capi/check.h"

// A ← 2·op(B) + 3·A from a block-cyclic layout to whole columns, compared with the formula element by element. All
// numbers are small integers, exact in every type.

enum { rows_of_b = 29, columns_of_b = 18 };

static plait_layout* from;
static plait_layout* to;

static plait_tile_extent tile_of(const plait_layout* layout) {
  plait_tile_extent tile;
  plait_index count = 0;
  SUCCEEDS(plait_layout_tiles(layout, this_rank, 1, &tile, &count));
  CHECK(count == 1);
  return tile;
}

static void place(const plait_layout* layout, const plait_tile_extent* tile, plait_index k, plait_index* i,
                  plait_index* j) {
  SUCCEEDS(plait_layout_place(layout, tile->row, tile->column, k % tile->rows, k / tile->rows, i, j));
}

static int value_of_b(plait_index i, plait_index j) { return (int)((7 * i + 3 * j) % 11); }
static int value_of_a(plait_index i, plait_index j) { return (int)((i + 2 * j) % 5); }

#define DEFINE_TRANSFORM_TEST(name, T, type_code, op_code, expected_b)                           \
  static void transform_##name(void) {                                                           \
    const plait_tile_extent source = tile_of(from);                                              \
    const plait_tile_extent target = tile_of(to);                                                \
    T* const b = malloc((size_t)(source.rows * source.columns + 1) * sizeof(T));                 \
    T* const a = malloc((size_t)(target.rows * target.columns + 1) * sizeof(T));                 \
    plait_index i = 0;                                                                           \
    plait_index j = 0;                                                                           \
    for (plait_index k = 0; k < source.rows * source.columns; ++k) {                             \
      place(from, &source, k, &i, &j);                                                           \
      b[k] = (T)(value_of_b(i, j) + IMAGINARY * i);                                              \
    }                                                                                            \
    for (plait_index k = 0; k < target.rows * target.columns; ++k) {                             \
      place(to, &target, k, &i, &j);                                                             \
      a[k] = (T)value_of_a(i, j);                                                                \
    }                                                                                            \
    const T two = 2;                                                                             \
    const T three = 3;                                                                           \
    const plait_source_tile b_tile = {b, source.rows > 0 ? source.rows : 1, PLAIT_COLUMN_MAJOR}; \
    const plait_target_tile a_tile = {a, target.rows > 0 ? target.rows : 1, PLAIT_COLUMN_MAJOR}; \
    const plait_operands operands = {type_code, &two, &three, &b_tile, 1, &a_tile, 1};           \
    plait_plan* plan = NULL;                                                                     \
    SUCCEEDS(plait_plan_create(context, from, to, op_code, NULL, &plan));                        \
    SUCCEEDS(plait_execute(plan, &operands, 1));                                                 \
    int wrong = 0;                                                                               \
    for (plait_index k = 0; k < target.rows * target.columns; ++k) {                             \
      place(to, &target, k, &i, &j);                                                             \
      if (a[k] != (T)(2 * (expected_b) + 3 * value_of_a(i, j))) ++wrong;                         \
    }                                                                                            \
    CHECK(wrong == 0 && #name[0] != '\0');                                                       \
    SUCCEEDS(plait_plan_free(&plan));                                                            \
    free(a);                                                                                     \
    free(b);                                                                                     \
  }

#define IMAGINARY 0
DEFINE_TRANSFORM_TEST(int8, int8_t, PLAIT_INT8, PLAIT_TRANSPOSE, value_of_b(j, i))
DEFINE_TRANSFORM_TEST(int16, int16_t, PLAIT_INT16, PLAIT_TRANSPOSE, value_of_b(j, i))
DEFINE_TRANSFORM_TEST(int32, int32_t, PLAIT_INT32, PLAIT_TRANSPOSE, value_of_b(j, i))
DEFINE_TRANSFORM_TEST(int64, int64_t, PLAIT_INT64, PLAIT_TRANSPOSE, value_of_b(j, i))
DEFINE_TRANSFORM_TEST(uint8, uint8_t, PLAIT_UINT8, PLAIT_TRANSPOSE, value_of_b(j, i))
DEFINE_TRANSFORM_TEST(uint16, uint16_t, PLAIT_UINT16, PLAIT_TRANSPOSE, value_of_b(j, i))
DEFINE_TRANSFORM_TEST(uint32, uint32_t, PLAIT_UINT32, PLAIT_TRANSPOSE, value_of_b(j, i))
DEFINE_TRANSFORM_TEST(uint64, uint64_t, PLAIT_UINT64, PLAIT_CONJUGATE_TRANSPOSE, value_of_b(j, i))
DEFINE_TRANSFORM_TEST(float, float, PLAIT_FLOAT, PLAIT_TRANSPOSE, value_of_b(j, i))
DEFINE_TRANSFORM_TEST(double, double, PLAIT_DOUBLE, PLAIT_TRANSPOSE, value_of_b(j, i))
#undef IMAGINARY
#define IMAGINARY I
DEFINE_TRANSFORM_TEST(complex_float, float complex, PLAIT_COMPLEX_FLOAT, PLAIT_TRANSPOSE, value_of_b(j, i) + I * j)
DEFINE_TRANSFORM_TEST(complex_double, double complex, PLAIT_COMPLEX_DOUBLE, PLAIT_CONJUGATE_TRANSPOSE,
                      value_of_b(j, i) - I * j)
DEFINE_TRANSFORM_TEST(conjugate, double complex, PLAIT_COMPLEX_DOUBLE, PLAIT_CONJUGATE, value_of_b(i, j) - I * i)

void every_element_type_is_transformed(void) {
  from = layout_of("block-cyclic:5x4@{P}x1,src=0,0", rows_of_b, columns_of_b);
  to = layout_of("cols@{P}", columns_of_b, rows_of_b);
  transform_int8();
  transform_int16();
  transform_int32();
  transform_int64();
  transform_uint8();
  transform_uint16();
  transform_uint32();
  transform_uint64();
  transform_float();
  transform_double();
  transform_complex_float();
  transform_complex_double();
  SUCCEEDS(plait_layout_free(&to));
  to = layout_of("cols@{P}", rows_of_b, columns_of_b);
  transform_conjugate();
  SUCCEEDS(plait_layout_free(&to));
  SUCCEEDS(plait_layout_free(&from));
}
