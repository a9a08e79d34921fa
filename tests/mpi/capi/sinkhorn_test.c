#include <math.h>
#include <stdlib.h>

#include "mpi/capi/check.h"

enum { columns = 9, gap = 2 };

/// This rank's rows of a matrix that is cut unevenly: rank r has r % 3 of them, and the last one some more.
static plait_index own_rows(int rank) { return rank % 3 + (rank == all_ranks - 1 ? 4 : 0); }

static double element(plait_index i, plait_index j) { return 1 + (double)((3 * i + 7 * j) % 11) / 4; }
static double row_sum(plait_index i) { return 1 + (double)(i % 2); }

typedef struct Problem {
  plait_rows rows;
  plait_index first, all;  // of the rows
  double row_sums[8], column_sums[columns];
  double data[8 * (columns + gap)];
  float short_data[8 * (columns + gap)];
} Problem;

static void set_up(Problem* its, plait_type type) {
  its->first = its->all = 0;
  for (int r = 0; r < all_ranks; ++r) {
    if (r < this_rank) its->first += own_rows(r);
    its->all += own_rows(r);
  }
  double total = 0;
  for (plait_index i = 0; i < its->all; ++i) total += row_sum(i);
  for (int j = 0; j < columns; ++j) its->column_sums[j] = total * 2 * (j + 1) / (columns * (columns + 1));
  for (plait_index i = 0; i < own_rows(this_rank); ++i) {
    its->row_sums[i] = row_sum(its->first + i);
    for (int j = 0; j < columns; ++j) {
      its->data[i * (columns + gap) + j] = element(its->first + i, j);
      its->short_data[i * (columns + gap) + j] = (float)element(its->first + i, j);
    }
  }
  its->rows = (plait_rows){.type = type,
                           .data = type == PLAIT_DOUBLE ? (const void*)its->data : its->short_data,
                           .rows = own_rows(this_rank),
                           .columns = columns,
                           .leading_dimension = columns + gap,
                           .row_sums = its->row_sums,
                           .column_sums = its->column_sums};
}

/// Whether a plan, row-major without gaps, has the sums that the problem asks for.
static void check_sums(const Problem* its, const double* plan, double tolerance) {
  double sums[columns] = {0};
  for (plait_index i = 0; i < its->rows.rows; ++i) {
    double sum = 0;
    for (int j = 0; j < columns; ++j) {
      sum += plan[i * columns + j];
      sums[j] += plan[i * columns + j];
    }
    CHECK(fabs(sum - its->row_sums[i]) < tolerance);
  }
  MPI_Allreduce(MPI_IN_PLACE, sums, columns, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  for (int j = 0; j < columns; ++j) CHECK(fabs(sums[j] - its->column_sums[j]) < tolerance);
}

void matrices_are_scaled_to_sums(void) {
  Problem its;
  set_up(&its, PLAIT_DOUBLE);
  double u[8];
  double v[columns];
  double plan[8 * columns];
  plait_sinkhorn_result result;
  SUCCEEDS(plait_scale(context, &its.rows, NULL, u, v, &result));
  CHECK(result.status == PLAIT_CONVERGED && result.iterations > 0 && result.error <= 1e-9);
  for (plait_index k = 0; k < its.rows.rows * columns; ++k) {
    plan[k] = u[k / columns] * element(its.first + k / columns, k % columns) * v[k % columns];
  }
  check_sums(&its, plan, 1e-7);

  const plait_sinkhorn_options loose = {.tolerance = 1e-4};
  float short_u[8];
  float short_v[columns];
  set_up(&its, PLAIT_FLOAT);
  SUCCEEDS(plait_scale(context, &its.rows, &loose, short_u, short_v, &result));
  CHECK(result.status == PLAIT_CONVERGED && result.error <= 1e-4);
  for (plait_index k = 0; k < its.rows.rows * columns; ++k) {
    plan[k] = (double)short_u[k / columns] * its.data[k / columns * (columns + gap) + k % columns] *
              (double)short_v[k % columns];
  }
  check_sums(&its, plan, 1e-2);

  const plait_sinkhorn_options once = {.most_iterations = 1};
  set_up(&its, PLAIT_DOUBLE);
  SUCCEEDS(plait_scale(context, &its.rows, &once, u, v, &result));
  CHECK(result.status == PLAIT_ITERATION_LIMIT && result.iterations == 1);
  for (plait_index i = 0; i < its.rows.rows; ++i) {  // the last two columns can have no more than row 0 has
    if (its.first + i > 0) its.data[i * (columns + gap) + 7] = its.data[i * (columns + gap) + 8] = 0;
  }
  SUCCEEDS(plait_scale(context, &its.rows, NULL, u, v, &result));
  CHECK(result.status == PLAIT_INFEASIBLE_MARGINALS);
}

void plans_of_transport_have_their_masses(void) {
  Problem its;
  set_up(&its, PLAIT_DOUBLE);
  double f[8];
  double g[columns];
  double plan[8 * columns];
  plait_sinkhorn_result result;
  const plait_sinkhorn_options options = {.epsilon = 0.125, .tolerance = 1e-10};
  SUCCEEDS(plait_transport(context, &its.rows, &options, f, g, &result));
  CHECK(result.status == PLAIT_CONVERGED);
  double values[2] = {0, 0};
  for (plait_index k = 0; k < its.rows.rows * columns; ++k) {
    const double cost = element(its.first + k / columns, k % columns);
    plan[k] = exp((f[k / columns] + g[k % columns] - cost) / options.epsilon);
    values[0] += cost * plan[k];
    values[1] += plan[k];
  }
  check_sums(&its, plan, 1e-7);
  MPI_Allreduce(MPI_IN_PLACE, values, 2, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  CHECK(fabs(result.cost - values[0]) < 1e-7 && fabs(result.mass - values[1]) < 1e-7);
  CHECK(fabs(result.primal - result.dual) < 1e-6);

  const plait_sinkhorn_options small = {.epsilon = 0.01, .first_epsilon = 0.01, .tolerance = 1e-10};
  plait_sinkhorn_options plain = small;
  plain.is_plain = 1;
  plait_sinkhorn_result plainly;
  SUCCEEDS(plait_transport(context, &its.rows, &small, f, g, &result));
  SUCCEEDS(plait_transport(context, &its.rows, &plain, f, g, &plainly));
  CHECK(result.status == PLAIT_CONVERGED && result.iterations < plainly.iterations);
  CHECK(fabs(result.dual - plainly.dual) < 1e-7);

  // What all costs have in common, however much it is, is in the potentials.
  const double common = 1e30;
  for (plait_index i = 0; i < its.rows.rows; ++i) {
    for (int j = 0; j < columns; ++j) its.data[i * (columns + gap) + j] = common;
  }
  SUCCEEDS(plait_transport(context, &its.rows, &options, f, g, &result));
  CHECK(result.status == PLAIT_CONVERGED);
  for (plait_index k = 0; k < its.rows.rows * columns; ++k) {
    CHECK(fabs(f[k / columns] + g[k % columns] - common) < 1e-12 * common);
  }
  set_up(&its, PLAIT_DOUBLE);

  // Half of the mass may stay where it is, if that is cheap.
  const plait_sinkhorn_options unbalanced = {.epsilon = 0.125, .rho_rows = 0.5, .rho_columns = 0.5};
  SUCCEEDS(plait_transport(context, &its.rows, &unbalanced, f, g, &result));
  CHECK(result.status == PLAIT_CONVERGED && result.mass < values[1] && result.mass > 0);
  CHECK(fabs(result.primal - result.dual) < 1e-6);
}

void wrong_scalings_fail_on_all_ranks(void) {
  const int last = this_rank == all_ranks - 1;
  Problem its;
  double u[8];
  double v[columns];
  set_up(&its, PLAIT_DOUBLE);
  FAILS(plait_scale(NULL, &its.rows, NULL, u, v, NULL), PLAIT_ERROR_ARGUMENT, "context: is NULL");
  FAILS(plait_scale(context, last ? NULL : &its.rows, NULL, u, v, NULL), PLAIT_ERROR_ARGUMENT, "rows: is NULL");
  FAILS(plait_scale(context, &its.rows, NULL, last ? NULL : u, v, NULL), PLAIT_ERROR_ARGUMENT, "u: is NULL");
  FAILS(plait_transport(context, &its.rows, NULL, u, v, NULL), PLAIT_ERROR_ARGUMENT, "epsilon");
  if (last) its.rows.type = PLAIT_COMPLEX_DOUBLE;
  FAILS(plait_scale(context, &its.rows, NULL, u, v, NULL), PLAIT_ERROR_ARGUMENT,
        "type: is 11, expected PLAIT_FLOAT or PLAIT_DOUBLE");
  set_up(&its, PLAIT_DOUBLE);
  if (last) its.rows.leading_dimension = columns - 1;
  FAILS(plait_scale(context, &its.rows, NULL, u, v, NULL), PLAIT_ERROR_ARGUMENT,
        "rows: leading_dimension is 8, expected at least 9");
  set_up(&its, PLAIT_DOUBLE);
  if (last) its.row_sums[0] = -1;
  FAILS(plait_scale(context, &its.rows, NULL, u, v, NULL), PLAIT_ERROR_ARGUMENT, "-1");
  set_up(&its, PLAIT_DOUBLE);
  if (last) its.data[0] = NAN;
  FAILS(plait_scale(context, &its.rows, NULL, u, v, NULL), PLAIT_ERROR_ARGUMENT, "nan");
  set_up(&its, PLAIT_DOUBLE);
  if (all_ranks > 1) {
    if (last) its.rows.row_sums = NULL;
    if (all_ranks > 2) FAILS(plait_scale(context, &its.rows, NULL, u, v, NULL), PLAIT_ERROR_ARGUMENT, "");
    set_up(&its, PLAIT_DOUBLE);
    const plait_sinkhorn_options options = {.tolerance = last ? 1e-3 : 1e-4};
    FAILS(plait_scale(context, &its.rows, &options, u, v, NULL), PLAIT_ERROR_ARGUMENT, "tolerance");
    if (last) its.rows.columns = 8;
    FAILS(plait_scale(context, &its.rows, NULL, u, v, NULL), PLAIT_ERROR_ARGUMENT, "");
  }
}
