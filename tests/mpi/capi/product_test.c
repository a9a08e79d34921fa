#include <stdlib.h>

#include "mpi/capi/matrix.h"

/// The product at hand: C ← alpha·op(A)·op(B) + beta·C, m × n with k terms, in small integers that are added up
/// exactly.
static struct {
  plait_type type;
  plait_op op_a, op_b;
  plait_index terms;
  double complex alpha, beta;
} now;

static double complex value(plait_index i, plait_index j, int a, int b) {
  const double imaginary = now.type == PLAIT_COMPLEX_DOUBLE ? (double)((b * i + a * j) % 5 - 2) : 0;
  return (double)((a * i + b * j) % 7 - 3) + imaginary * I;
}
static double complex of_a(plait_index i, plait_index j) { return value(i, j, 3, 5); }
static double complex of_b(plait_index i, plait_index j) { return value(i, j, 2, 11); }
static double complex of_c(plait_index i, plait_index j) { return value(i, j, 1, 4); }

static double complex applied(plait_op op, Element matrix, plait_index i, plait_index j) {
  const int swaps = op == PLAIT_TRANSPOSE || op == PLAIT_CONJUGATE_TRANSPOSE;
  const double complex found = swaps ? matrix(j, i) : matrix(i, j);
  return op >= PLAIT_CONJUGATE ? conj(found) : found;
}

static double complex product_at(plait_index i, plait_index j) {
  double complex sum = 0;
  for (plait_index k = 0; k < now.terms; ++k) sum += applied(now.op_a, of_a, i, k) * applied(now.op_b, of_b, k, j);
  return now.alpha * sum + now.beta * of_c(i, j);
}

static plait_layout* factor_layout(plait_op op, plait_index rows, plait_index columns) {
  const int swaps = op == PLAIT_TRANSPOSE || op == PLAIT_CONJUGATE_TRANSPOSE;
  return swaps ? next_layout(columns, rows) : next_layout(rows, columns);
}

static plait_product_operands operands_of(const Matrix* a, const Matrix* b, const Matrix* c) {
  return (plait_product_operands){
      .a = a->sources, .a_count = a->count, .b = b->sources, .b_count = b->count, .c = c->targets, .c_count = c->count};
}

static void multiply(plait_index m, plait_index n, const plait_product_options* options) {
  Matrix a = matrix_in(factor_layout(now.op_a, m, now.terms), now.type);
  Matrix b = matrix_in(factor_layout(now.op_b, now.terms, n), now.type);
  Matrix c = matrix_in(next_layout(m, n), now.type);
  fill_matrix(&a, of_a);
  fill_matrix(&b, of_b);
  plait_product* product = NULL;
  const plait_factor factors[2] = {{a.layout, now.op_a}, {b.layout, now.op_b}};
  SUCCEEDS(plait_product_create(context, now.type, &factors[0], &factors[1], c.layout, options, &product));
  const double complex scalars[3][2] = {{1, 0}, {2, -1}, {0, 3}};
  for (int k = 0; k < 3; ++k) {
    now.alpha = scalars[k][0];
    now.beta = scalars[k][1];
    const double alpha[2] = {creal(now.alpha), 0};
    const double beta[2] = {creal(now.beta), 0};
    plait_product_operands operands = operands_of(&a, &b, &c);
    operands.alpha = k == 0 ? NULL : alpha;
    operands.beta = k == 0 ? NULL : beta;
    if (now.beta != 0) fill_matrix(&c, of_c);
    SUCCEEDS(plait_product_execute(product, &operands));
    CHECK(wrong_elements(&c, product_at, 0) == 0);
  }
  SUCCEEDS(plait_product_free(&product));
  free_matrix(&a);
  free_matrix(&b);
  free_matrix(&c);
}

void products_are_the_sums_of_their_terms(void) {
  const plait_index sizes[5][3] = {{9, 7, 12}, {1, 20, 3}, {16, 1, 8}, {5, 5, 0}, {0, 4, 6}};
  for (int round = 0; round < 40; ++round) {
    const plait_index* size = sizes[round % 5];
    now.type = next_below(2) ? PLAIT_DOUBLE : PLAIT_COMPLEX_DOUBLE;
    now.op_a = next_below(4);
    now.op_b = next_below(4);
    now.terms = size[2];
    plait_product_options options = {.panel_terms = next_below(3)};
    if (round % 4 == 1) options.method = PLAIT_PRODUCT_SUMMA;
    if (round % 4 == 2) options.mesh_layers = all_ranks > 1 ? 2 : 1, options.mesh_rows = options.mesh_columns = 1;
    multiply(size[0], size[1], round % 4 == 3 ? NULL : &options);
  }
}

void products_tell_how_they_are_done(void) {
  Matrix a = matrix_in(layout_of("rows@{P}", 12, 12), PLAIT_DOUBLE);
  const plait_factor factor = {a.layout, PLAIT_IDENTITY};
  const plait_product_options options = {
      .method = PLAIT_PRODUCT_RING, .mesh_rows = all_ranks, .mesh_columns = 1, .mesh_layers = 1};
  plait_product* product = NULL;
  plait_product_choice choice;
  SUCCEEDS(plait_product_create(context, PLAIT_DOUBLE, &factor, &factor, a.layout, &options, &product));
  SUCCEEDS(plait_product_choice_of(product, &choice));
  CHECK(choice.method == PLAIT_PRODUCT_RING && choice.mesh_rows == all_ranks && choice.mesh_layers == 1);
  CHECK(choice.redistributed_bytes == 0 && choice.workspace_bytes >= 0);
  if (12 % all_ranks == 0) CHECK(choice.received_bytes == 12 * 12 * 8 / all_ranks * (all_ranks - 1));
  SUCCEEDS(plait_product_free(&product));
  free_matrix(&a);
}

void wrong_products_fail_on_all_ranks(void) {
  const int last = this_rank == all_ranks - 1;
  Matrix a = matrix_in(layout_of("rows@{P}", 12, 8), PLAIT_DOUBLE);
  Matrix c = matrix_in(layout_of("rows@{P}", 12, 12), PLAIT_DOUBLE);
  now.type = PLAIT_DOUBLE;
  fill_matrix(&a, of_a);
  const plait_factor left = {a.layout, PLAIT_IDENTITY};
  const plait_factor right = {a.layout, PLAIT_TRANSPOSE};
  const plait_factor none = {NULL, PLAIT_IDENTITY};
  const plait_factor other = {a.layout, 7};
  plait_product* product = NULL;
  FAILS(plait_product_create(context, last ? PLAIT_INT32 : PLAIT_DOUBLE, &left, &right, c.layout, NULL, &product),
        PLAIT_ERROR_ARGUMENT, "type: is 2, expected PLAIT_FLOAT, PLAIT_DOUBLE, PLAIT_COMPLEX_FLOAT or PLAIT_COMPLEX");
  FAILS(plait_product_create(context, PLAIT_DOUBLE, last ? NULL : &left, &right, c.layout, NULL, &product),
        PLAIT_ERROR_ARGUMENT, "a: factor: is NULL");
  FAILS(plait_product_create(context, PLAIT_DOUBLE, &left, last ? &none : &right, c.layout, NULL, &product),
        PLAIT_ERROR_ARGUMENT, "b: layout: is NULL, expected a layout");
  FAILS(plait_product_create(context, PLAIT_DOUBLE, &left, last ? &other : &right, c.layout, NULL, &product),
        PLAIT_ERROR_ARGUMENT, "op: is 7");
  FAILS(plait_product_create(context, PLAIT_DOUBLE, &left, &left, c.layout, NULL, &product), PLAIT_ERROR_SHAPE, "8");
  FAILS(plait_product_create(context, PLAIT_DOUBLE, &left, &right, a.layout, NULL, &product), PLAIT_ERROR_SHAPE,
        "C is 12 x 8");
  plait_product_options options = {.method = last ? 5 : 0};
  FAILS(plait_product_create(context, PLAIT_DOUBLE, &left, &right, c.layout, &options, &product), PLAIT_ERROR_ARGUMENT,
        "method: is 5, expected one of 1 to 4");
  options = (plait_product_options){.memory_limit = 1};
  if (all_ranks > 1) {
    FAILS(plait_product_create(context, PLAIT_DOUBLE, &left, &right, c.layout, &options, &product),
          PLAIT_ERROR_ARGUMENT, "memory");
    options = (plait_product_options){.panel_terms = last ? 3 : 0};
    FAILS(plait_product_create(context, PLAIT_DOUBLE, &left, &right, c.layout, &options, &product),
          PLAIT_ERROR_ARGUMENT, "panel_terms: is 3, but 0 on rank 0");
    options = (plait_product_options){.method = last ? PLAIT_PRODUCT_CANNON : PLAIT_PRODUCT_RING};
    FAILS(plait_product_create(context, PLAIT_DOUBLE, &left, &right, c.layout, &options, &product),
          PLAIT_ERROR_ARGUMENT, "method: is 3, but 1 on rank 0");
    plait_layout* columns = layout_of("cols@{P}", 12, 12);
    FAILS(plait_product_create(context, PLAIT_DOUBLE, &left, &right, last ? columns : c.layout, NULL, &product),
          PLAIT_ERROR_ARGUMENT, "layout of C");
    SUCCEEDS(plait_layout_free(&columns));
  }
  options = (plait_product_options){.mesh_rows = 40, .mesh_columns = 40, .mesh_layers = 1};
  FAILS(plait_product_create(context, PLAIT_DOUBLE, &left, &right, c.layout, &options, &product), PLAIT_ERROR_ARGUMENT,
        "40");
  CHECK(product == NULL);

  SUCCEEDS(plait_product_create(context, PLAIT_DOUBLE, &left, &right, c.layout, NULL, &product));
  const plait_product_operands operands = operands_of(&a, &a, &c);
  plait_product_operands wrong = operands;
  FAILS(plait_product_execute(product, last ? NULL : &operands), PLAIT_ERROR_ARGUMENT, "operands: is NULL");
  if (last) wrong.a_count = 5;
  FAILS(plait_product_execute(product, &wrong), PLAIT_ERROR_SHAPE, "a: has 5 tiles, expected 1");
  wrong = operands;
  plait_target_tile tile = c.targets[0];
  wrong.c = &tile;
  if (last) tile.data = NULL;
  FAILS(plait_product_execute(product, &wrong), PLAIT_ERROR_ARGUMENT, "c tile 0: data: is NULL");
  const double two = 2;
  wrong = operands;
  if (last) wrong.alpha = &two;
  if (all_ranks > 1)
    FAILS(plait_product_execute(product, &wrong), PLAIT_ERROR_ARGUMENT, "alpha: is 2, but 1 on rank 0");
  FAILS(plait_product_execute(NULL, &operands), PLAIT_ERROR_ARGUMENT, "product: is NULL, expected a product");
  now.op_a = PLAIT_IDENTITY, now.op_b = PLAIT_IDENTITY;
  SUCCEEDS(plait_product_execute(product, &operands));
  SUCCEEDS(plait_product_free(&product));
  free_matrix(&a);
  free_matrix(&c);
}

enum { side = 11 };

static double complex symmetric(plait_index i, plait_index j) {
  const double imaginary = now.type == PLAIT_COMPLEX_DOUBLE ? (double)((i - j) % 3) : 0;
  return (double)((i + j) % 4 - 1) + imaginary * I;
}
static double complex squared(plait_index i, plait_index j) {
  double complex sum = 0;
  for (plait_index k = 0; k < side; ++k) sum += symmetric(i, k) * symmetric(k, j);
  return sum;
}
static double complex cubed(plait_index i, plait_index j) {
  double complex sum = 0;
  for (plait_index k = 0; k < side; ++k) sum += squared(i, k) * symmetric(k, j);
  return sum;
}

static Matrix symm_matrix(const plait_symm* symm) {
  plait_layout* layout = NULL;
  SUCCEEDS(plait_symm_layout(symm, &layout));
  return matrix_in(layout, now.type);
}

void symmetric_matrices_are_squared_and_cubed(void) {
  for (plait_symm_algorithm algorithm = PLAIT_SYMM_AUTO; algorithm <= PLAIT_SYMM_MIRRORED; ++algorithm) {
    now.type = algorithm % 2 ? PLAIT_DOUBLE : PLAIT_COMPLEX_DOUBLE;
    const plait_symm_options options = {.algorithm = algorithm, .strands = algorithm == PLAIT_SYMM_OVERLAPPED ? 2 : 0};
    plait_symm* symm = NULL;
    SUCCEEDS(plait_symm_create(context, now.type, side, algorithm == PLAIT_SYMM_AUTO ? NULL : &options, &symm));
    Matrix d = symm_matrix(symm);
    Matrix d2 = symm_matrix(symm);
    Matrix d3 = symm_matrix(symm);
    CHECK(d.count <= 1);
    fill_matrix(&d, symmetric);
    SUCCEEDS(plait_symm_square(symm, d.sources, d2.targets));
    CHECK(wrong_elements(&d2, squared, 0) == 0);
    SUCCEEDS(plait_symm_square_cube(symm, d.sources, d2.targets, d.count > 0 ? d3.targets : NULL));
    CHECK(wrong_elements(&d2, squared, 0) == 0 && wrong_elements(&d3, cubed, 0) == 0);
    FAILS(plait_symm_square(symm, this_rank == 0 ? NULL : d.sources, d2.targets), PLAIT_ERROR_ARGUMENT,
          "d: is NULL, expected 1 entries");
    if (all_ranks > 1) {
      FAILS(this_rank == 0 ? plait_symm_square(symm, d.sources, d2.targets)
                           : plait_symm_square_cube(symm, d.sources, d2.targets, d3.targets),
            PLAIT_ERROR_ARGUMENT, "cubes");
    }
    SUCCEEDS(plait_symm_free(&symm));
    free_matrix(&d);
    free_matrix(&d2);
    free_matrix(&d3);
  }
  plait_symm* symm = NULL;
  FAILS(plait_symm_create(context, PLAIT_DOUBLE, -1, NULL, &symm), PLAIT_ERROR_ARGUMENT, "-1");
}

static double complex of_x(plait_index i, plait_index j) { return value(i, j, 5, 2); }

void matrices_are_multiplied_by_vectors(void) {
  const plait_index m = 13;
  const plait_index n = 9;
  now.type = PLAIT_DOUBLE;
  for (plait_vector_method method = PLAIT_VECTOR_ROWS; method <= PLAIT_VECTOR_MESH; ++method) {
    const plait_vector_options options = {.strands = 2, .segment = 3};
    plait_matrix_vector* product = NULL;
    plait_layout* layout = NULL;
    plait_part x_part;
    plait_part y_part;
    SUCCEEDS(plait_matrix_vector_create(context, PLAIT_DOUBLE, m, n, method, method ? &options : NULL, &product));
    SUCCEEDS(plait_matrix_vector_layout(product, &layout));
    SUCCEEDS(plait_matrix_vector_parts(product, &x_part, &y_part));
    double x[9];
    double y[13];
    for (plait_index j = 0; j < x_part.count; ++j) x[j] = creal(of_x(x_part.first + j, 0));
    plait_tile_extent extent = {0};
    plait_index count = 0;
    SUCCEEDS(plait_layout_tiles(layout, this_rank, 1, &extent, &count));
    double* memory = malloc((size_t)((extent.rows + 1) * extent.columns + 1) * sizeof *memory);
    for (plait_index k = 0; k < extent.rows * extent.columns; ++k) {
      plait_index row = 0;
      plait_index column = 0;
      const plait_index i = k % extent.rows;
      const plait_index j = k / extent.rows;
      SUCCEEDS(plait_layout_place(layout, extent.row, extent.column, i, j, &row, &column));
      memory[i + j * (extent.rows + 1)] = creal(of_a(row, column));
    }
    const plait_source_tile tile = {memory, extent.rows + 1, PLAIT_COLUMN_MAJOR};
    for (int round = 0; round < 2; ++round) {
      SUCCEEDS(plait_matrix_vector_execute(product, count > 0 ? &tile : NULL, x, y));
      for (plait_index i = 0; i < y_part.count; ++i) {
        double sum = 0;
        for (plait_index j = 0; j < n; ++j) sum += creal(of_a(y_part.first + i, j)) * creal(of_x(j, 0));
        CHECK(y[i] == sum);
      }
    }
    FAILS(plait_matrix_vector_execute(product, &tile, this_rank == 0 ? NULL : x, y), PLAIT_ERROR_ARGUMENT,
          "x: is NULL");
    SUCCEEDS(plait_matrix_vector_free(&product));
    SUCCEEDS(plait_layout_free(&layout));
    free(memory);
  }
  plait_matrix_vector* product = NULL;
  FAILS(plait_matrix_vector_create(context, PLAIT_DOUBLE, m, n, 3, NULL, &product), PLAIT_ERROR_ARGUMENT,
        "method: is 3, expected one of 0 to 2");
}
