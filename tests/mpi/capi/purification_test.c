#include <math.h>
#include <string.h>

#include "mpi/capi/matrix.h"

enum { n = 22 };
static const double pi = 3.14159265358979323846;
static const double phase = 0.7;
static const double mixing = 0.3;

/// What is computed of a chain of sites, all of whose eigenvectors are known; complex ones are turned by phases.
static struct {
  plait_type type;
  int occupied;
  plait_triangle triangle;
  double potential, width;  // of Fermi and Dirac's occupations; 0 without
} now;

static double level(int k) { return -2 * cos(k * pi / (n + 1)); }  // k = 1 to n, rising

static double complex turned(double element, plait_index i, plait_index j) {
  return now.type == PLAIT_COMPLEX_DOUBLE ? element * cexp(I * phase * (double)(i - j)) : element;
}
static double complex chain(plait_index i, plait_index j) { return turned(i - j == 1 || j - i == 1 ? -1 : 0, i, j); }
static double occupation(int k) {
  if (now.width == 0) return k <= now.occupied;
  return 1 / (1 + exp((level(k) - now.potential) / now.width));
}
static double complex density(plait_index i, plait_index j) {
  double sum = 0;
  for (int k = 1; k <= n; ++k) {
    sum += occupation(k) * 2.0 / (n + 1) * sin(k * pi * (double)(i + 1) / (n + 1)) *
           sin(k * pi * (double)(j + 1) / (n + 1));
  }
  return turned(sum, i, j);
}

/// L is 1 on its diagonal and `mixing` at (i, i + 1) for even i. Another basis makes H and S of L H Lᵀ and L Lᵀ.
static double complex in_basis(Element of, plait_index i, plait_index j) {
  double complex sum = of(i, j);
  if (i % 2 == 0) sum += mixing * of(i + 1, j);
  if (j % 2 == 0) sum += mixing * of(i, j + 1);
  if (i % 2 == 0 && j % 2 == 0) sum += mixing * mixing * of(i + 1, j + 1);
  return sum;
}
static double complex identity(plait_index i, plait_index j) { return i == j; }
static double complex overlap(plait_index i, plait_index j) { return in_basis(identity, i, j); }
static double complex mixed_chain(plait_index i, plait_index j) { return in_basis(chain, i, j); }
/// D is L⁻ᵀ D L⁻¹ then.
static double complex mixed_density(plait_index i, plait_index j) {
  double complex sum = density(i, j);
  if (i % 2 == 1) sum -= mixing * density(i - 1, j);
  if (j % 2 == 1) sum -= mixing * density(i, j - 1);
  if (i % 2 == 1 && j % 2 == 1) sum += mixing * mixing * density(i - 1, j - 1);
  return sum;
}

/// One triangle alone, and what is no number in the other one.
static Element whole;
static double complex one_triangle(plait_index i, plait_index j) {
  return (now.triangle == PLAIT_LOWER && i < j) || (now.triangle == PLAIT_UPPER && i > j) ? NAN : whole(i, j);
}
static void fill_triangle(const Matrix* matrix, Element element) {
  whole = element;
  fill_matrix(matrix, one_triangle);
}

static void check_result(const plait_purification_result* result, int per_state) {
  double energy = 0;
  for (int k = 1; k <= now.occupied; ++k) energy += level(k);
  CHECK(fabs(result->energy - per_state * energy) < 1e-9);
  CHECK(fabs(result->trace_error) < 1e-9 && result->idempotency_error < 1e-9 && result->commutator_error < 1e-9);
  CHECK(result->iterations > 0 && result->products > 0);
  const double below = level(now.occupied);
  const double above = level(now.occupied + 1);
  CHECK(result->lowest_potential > below - 1e-9 && result->highest_potential < above + 1e-9);
  CHECK(fabs(result->highest_occupied - below) < 1e-6 && fabs(result->lowest_empty - above) < 1e-6);
}

void density_matrices_are_projectors_onto_the_lowest_states(void) {
  const double between = (level(7) + level(8)) / 2;
  for (int round = 0; round < 12; ++round) {
    const int with_overlap = round % 2;
    now.type = round % 4 < 2 ? PLAIT_DOUBLE : PLAIT_COMPLEX_DOUBLE;
    now.triangle = round % 3;
    now.occupied = round % 6 == PLAIT_PURIFICATION_MCWEENY ? 7 : 2 + next_below(n - 3);
    Matrix h = matrix_in(next_layout(n, n), now.type);
    Matrix s = matrix_in(next_layout(n, n), now.type);
    Matrix d = matrix_in(next_layout(n, n), now.type);
    plait_purification* purification = NULL;
    plait_purification_problem problem = {.electrons = 2 * now.occupied,
                                          .method = round % 6,
                                          .gershgorin = round == 1,
                                          .most_iterations = round == 3 ? 100 : 0};
    if (problem.method == PLAIT_PURIFICATION_MCWEENY) problem.chemical_potential = &between;
    SUCCEEDS(plait_purification_create(context, now.type, h.layout, with_overlap ? s.layout : NULL, d.layout,
                                       now.triangle, &purification));
    fill_triangle(&h, with_overlap ? mixed_chain : chain);
    if (with_overlap) {
      fill_triangle(&s, overlap);
      SUCCEEDS(plait_purification_set_overlap(purification, s.sources, s.count));
    }
    plait_purification_result result;
    SUCCEEDS(plait_purification_execute(purification, &problem, h.sources, h.count, d.targets, d.count, &result));
    CHECK(wrong_elements(&d, with_overlap ? mixed_density : density, 1e-9) == 0);
    check_result(&result, 2);

    // Another number of electrons of the same H and S.
    now.occupied = 1 + next_below(n - 2);
    problem = (plait_purification_problem){.electrons = now.occupied, .electrons_per_state = 1};
    SUCCEEDS(plait_purification_execute(purification, &problem, h.sources, h.count, d.targets, d.count, NULL));
    CHECK(wrong_elements(&d, with_overlap ? mixed_density : density, 1e-9) == 0);
    SUCCEEDS(plait_purification_free(&purification));
    free_matrix(&h);
    free_matrix(&s);
    free_matrix(&d);
  }
}

static double stretched = 1;
static double complex stretched_chain(plait_index i, plait_index j) { return stretched * chain(i, j); }
static double complex stretched_mixed_chain(plait_index i, plait_index j) { return stretched * mixed_chain(i, j); }

void hamiltonians_near_the_former_one_take_fewer_products(void) {
  for (int round = 0; round < 4; ++round) {
    const int with_overlap = round % 2;
    now.type = round < 2 ? PLAIT_DOUBLE : PLAIT_COMPLEX_DOUBLE;
    now.triangle = PLAIT_WHOLE;
    now.occupied = 11;
    Matrix h = matrix_in(next_layout(n, n), now.type);
    Matrix s = matrix_in(next_layout(n, n), now.type);
    Matrix d = matrix_in(next_layout(n, n), now.type);
    plait_purification* purification = NULL;
    SUCCEEDS(plait_purification_create(context, now.type, h.layout, with_overlap ? s.layout : NULL, d.layout,
                                       now.triangle, &purification));
    if (with_overlap) {
      fill_matrix(&s, overlap);
      SUCCEEDS(plait_purification_set_overlap(purification, s.sources, s.count));
    }
    plait_purification_problem problem = {.electrons = 2 * now.occupied, .method = PLAIT_PURIFICATION_TC2};
    plait_index iterations[4];
    for (int step = 0; step < 4; ++step) {
      if (step == 3) problem.method = PLAIT_PURIFICATION_AUTO;
      stretched = 1 + 1e-3 * step;
      fill_matrix(&h, with_overlap ? stretched_mixed_chain : stretched_chain);
      plait_purification_result result;
      SUCCEEDS(plait_purification_execute(purification, &problem, h.sources, h.count, d.targets, d.count, &result));
      CHECK(wrong_elements(&d, with_overlap ? mixed_density : density, 1e-9) == 0);
      CHECK(fabs(result.highest_occupied - stretched * level(11)) < 1e-6);
      iterations[step] = result.iterations;
      CHECK(step == 0 || 5 * iterations[step] < 4 * iterations[0]);
    }
    SUCCEEDS(plait_purification_free(&purification));
    free_matrix(&h);
    free_matrix(&s);
    free_matrix(&d);
  }
}

void eigenstates_are_occupied_in_part(void) {
  for (int round = 0; round < 8; ++round) {
    const int with_overlap = round % 2;
    const int is_smeared = round < 4;
    now.type = round % 4 < 2 ? PLAIT_DOUBLE : PLAIT_COMPLEX_DOUBLE;
    now.triangle = round % 3;
    now.occupied = 6;
    Matrix h = matrix_in(next_layout(n, n), now.type);
    Matrix s = matrix_in(next_layout(n, n), now.type);
    Matrix d = matrix_in(next_layout(n, n), now.type);
    plait_purification* purification = NULL;
    SUCCEEDS(plait_purification_create(context, now.type, h.layout, with_overlap ? s.layout : NULL, d.layout,
                                       now.triangle, &purification));
    fill_triangle(&h, with_overlap ? mixed_chain : chain);
    if (with_overlap) {
      fill_triangle(&s, overlap);
      SUCCEEDS(plait_purification_set_overlap(purification, s.sources, s.count));
    }
    double values[n];
    const plait_purification_problem problem = {.electrons = is_smeared ? 13 : 12,
                                                .smearing = is_smeared ? PLAIT_SMEARING_FERMI_DIRAC : 0,
                                                .width = is_smeared ? 0.3 : 0,
                                                .eigenvalues = values};
    plait_purification_result result;
    const int code =
        plait_purification_execute(purification, &problem, h.sources, h.count, d.targets, d.count, &result);
    if (code == PLAIT_ERROR_OTHER && strstr(plait_last_error(), "there is no libscalapack") != NULL) {
      round = 8;  // an optional package
    } else {
      SUCCEEDS(code);
      now.potential = result.lowest_potential, now.width = problem.width;
      double electrons = 0;
      double energy = 0;
      double entropy = 0;
      for (int k = 1; k <= n; ++k) {
        const double f = occupation(k);
        electrons += 2 * f, energy += 2 * f * level(k);
        if (is_smeared) entropy -= 2 * (f * log(f) + (1 - f) * log(1 - f));
        CHECK(fabs(values[k - 1] - level(k)) < 1e-9);
      }
      CHECK(fabs(electrons - (double)problem.electrons) < 1e-9 && fabs(energy - result.energy) < 1e-9);
      CHECK(fabs(entropy - result.entropy) < 1e-9);
      CHECK(is_smeared
                ? result.highest_potential == result.lowest_potential
                : fabs(result.highest_occupied - level(6)) < 1e-9 && fabs(result.lowest_empty - level(7)) < 1e-9);
      CHECK(wrong_elements(&d, with_overlap ? mixed_density : density, 1e-9) == 0);
      now.width = 0;
    }
    SUCCEEDS(plait_purification_free(&purification));
    free_matrix(&h);
    free_matrix(&s);
    free_matrix(&d);
  }
}

void density_matrices_go_step_by_step(void) {
  now.type = PLAIT_DOUBLE, now.triangle = PLAIT_WHOLE, now.occupied = 5;
  Matrix h = matrix_in(layout_of("rows@{P}", n, n), now.type);
  Matrix d = matrix_in(layout_of("cols@{P}", n, n), now.type);
  fill_matrix(&h, chain);
  plait_purification* purification = NULL;
  SUCCEEDS(plait_purification_create(context, now.type, h.layout, NULL, d.layout, PLAIT_WHOLE, &purification));
  FAILS(plait_purification_end(purification, d.targets, d.count, NULL), PLAIT_ERROR_ARGUMENT, "none is under way");
  const plait_purification_problem problem = {.electrons = 10};
  plait_purification_result progress = {0};
  plait_purification_result result;
  for (int early = 0; early < 2; ++early) {
    SUCCEEDS(plait_purification_begin(purification, &problem, h.sources, h.count));
    int done = 0;
    plait_index steps = 0;
    while (!done && !(early && steps == 3)) {
      SUCCEEDS(plait_purification_advance(purification, &done, &progress));
      if (!done) CHECK(progress.iterations == ++steps);
    }
    CHECK(progress.iterations == steps && (early || fabs(progress.trace_error) < 1e-9));
    FAILS(plait_purification_end(purification, d.targets, d.count + (this_rank == 0), NULL), PLAIT_ERROR_SHAPE,
          "d: has 2 tiles, expected 1");
    SUCCEEDS(plait_purification_end(purification, d.targets, d.count, &result));
    CHECK(result.iterations >= steps && wrong_elements(&d, density, 1e-9) == 0);
    check_result(&result, 2);
    FAILS(plait_purification_advance(purification, &done, NULL), PLAIT_ERROR_ARGUMENT, "none is under way");
  }
  SUCCEEDS(plait_purification_begin(purification, &problem, h.sources, h.count));
  SUCCEEDS(plait_purification_free(&purification));

  Matrix nothing = matrix_in(layout_of("rows@{P}", 0, 0), now.type);
  const plait_purification_problem no_electrons = {.electrons = 0};
  SUCCEEDS(plait_purification_create(context, now.type, nothing.layout, NULL, nothing.layout, 0, &purification));
  SUCCEEDS(plait_purification_execute(purification, &no_electrons, nothing.sources, nothing.count, nothing.targets,
                                      nothing.count, &result));
  CHECK(result.energy == 0 && result.trace_error == 0);
  SUCCEEDS(plait_purification_free(&purification));
  free_matrix(&nothing);
  free_matrix(&h);
  free_matrix(&d);
}

static double complex nothing(plait_index i, plait_index j) { return 0 * (double)(i + j); }
static double complex lopsided(plait_index i, plait_index j) { return (double)(i + 2 * j); }
static double complex negative(plait_index i, plait_index j) { return -identity(i, j); }

void wrong_purifications_fail_on_all_ranks(void) {
  const int last = this_rank == all_ranks - 1;
  now.type = PLAIT_DOUBLE, now.triangle = PLAIT_WHOLE, now.occupied = 5;
  Matrix h = matrix_in(layout_of("rows@{P}", n, n), now.type);
  Matrix d = matrix_in(layout_of("cols@{P}", n, n), now.type);
  plait_layout* oblong = layout_of("rows@{P}", n, n + 1);
  plait_purification* purification = NULL;
  FAILS(
      plait_purification_create(context, last ? PLAIT_FLOAT : PLAIT_DOUBLE, h.layout, NULL, d.layout, 0, &purification),
      PLAIT_ERROR_ARGUMENT, "type: is 8, expected PLAIT_DOUBLE or PLAIT_COMPLEX_DOUBLE");
  FAILS(plait_purification_create(context, PLAIT_DOUBLE, h.layout, NULL, last ? NULL : d.layout, 0, &purification),
        PLAIT_ERROR_ARGUMENT, "d: is NULL");
  FAILS(
      plait_purification_create(context, PLAIT_DOUBLE, h.layout, last ? oblong : h.layout, d.layout, 0, &purification),
      PLAIT_ERROR_SHAPE, "s: is 22 x 23, expected 22 x 22");
  FAILS(plait_purification_create(context, PLAIT_DOUBLE, h.layout, NULL, d.layout, last ? 3 : 0, &purification),
        PLAIT_ERROR_ARGUMENT, "triangle: is 3, expected one of 1 to 2");
  if (all_ranks > 1) {
    FAILS(
        plait_purification_create(context, PLAIT_DOUBLE, h.layout, NULL, last ? h.layout : d.layout, 0, &purification),
        PLAIT_ERROR_ARGUMENT, "d: is");
  }
  CHECK(purification == NULL);

  SUCCEEDS(plait_purification_create(context, now.type, h.layout, h.layout, d.layout, 0, &purification));
  plait_purification_problem problem = {.electrons = 10};
  FAILS(plait_purification_begin(purification, &problem, h.sources, h.count), PLAIT_ERROR_ARGUMENT, "no overlap yet");
  fill_matrix(&h, negative);
  SUCCEEDS(plait_purification_set_overlap(purification, h.sources, h.count));
  FAILS(plait_purification_begin(purification, &problem, h.sources, h.count), PLAIT_ERROR_ARGUMENT,
        "positive definite");
  SUCCEEDS(plait_purification_free(&purification));

  SUCCEEDS(plait_purification_create(context, now.type, h.layout, NULL, d.layout, 0, &purification));
  FAILS(plait_purification_set_overlap(purification, h.sources, h.count), PLAIT_ERROR_ARGUMENT, "s: was planned");
  FAILS(plait_purification_begin(purification, last ? NULL : &problem, h.sources, h.count), PLAIT_ERROR_ARGUMENT,
        "problem: is NULL");
  FAILS(plait_purification_begin(purification, &problem, last ? NULL : h.sources, h.count), PLAIT_ERROR_ARGUMENT,
        "h: is NULL");
  fill_matrix(&h, lopsided);
  FAILS(plait_purification_begin(purification, &problem, h.sources, h.count), PLAIT_ERROR_ARGUMENT,
        "h: is not symmetric: element (");
  fill_matrix(&h, nothing);
  FAILS(plait_purification_begin(purification, &problem, h.sources, h.count), PLAIT_ERROR_NO_GAP, "no gap");
  CHECK(strcmp(plait_error_name(PLAIT_ERROR_NO_GAP), "PLAIT_ERROR_NO_GAP") == 0);
  fill_matrix(&h, chain);
  problem.electrons = 11;
  FAILS(plait_purification_begin(purification, &problem, h.sources, h.count), PLAIT_ERROR_ARGUMENT,
        "electrons: is 11, expected an even number");
  problem.electrons = last ? 12 : 10;
  if (all_ranks > 1) {
    FAILS(plait_purification_begin(purification, &problem, h.sources, h.count), PLAIT_ERROR_ARGUMENT,
          "electrons: is 12, but 10 on rank 0");
  }
  problem = (plait_purification_problem){.electrons = 10, .method = last ? 7 : PLAIT_PURIFICATION_TC2};
  FAILS(plait_purification_begin(purification, &problem, h.sources, h.count), PLAIT_ERROR_ARGUMENT, "method: is 7");
  problem = (plait_purification_problem){.electrons = 10, .smearing = last ? 4 : PLAIT_SMEARING_GAUSSIAN, .width = 1};
  FAILS(plait_purification_begin(purification, &problem, h.sources, h.count), PLAIT_ERROR_ARGUMENT, "smearing: is 4");
  problem = (plait_purification_problem){.electrons = 10, .method = PLAIT_PURIFICATION_TC2, .smearing = last};
  FAILS(plait_purification_begin(purification, &problem, h.sources, h.count), PLAIT_ERROR_ARGUMENT,
        "smearing: takes eigenstates");
  problem = (plait_purification_problem){.electrons = 10};
  problem.method = PLAIT_PURIFICATION_MCWEENY;
  FAILS(plait_purification_begin(purification, &problem, h.sources, h.count), PLAIT_ERROR_ARGUMENT,
        "chemical_potential: is missing");
  const double high = 1;
  problem.chemical_potential = &high;
  SUCCEEDS(plait_purification_begin(purification, &problem, h.sources, h.count));
  FAILS(plait_purification_end(purification, d.targets, d.count, NULL), PLAIT_ERROR_ARGUMENT,
        "chemical_potential: 1 has 15 states below it, expected 5");
  FAILS(plait_purification_end(purification, d.targets, d.count, NULL), PLAIT_ERROR_ARGUMENT, "none is under way");
  problem.method = PLAIT_PURIFICATION_TC2;
  FAILS(plait_purification_begin(purification, &problem, h.sources, h.count), PLAIT_ERROR_ARGUMENT,
        "chemical_potential: is given");
  problem = (plait_purification_problem){.electrons = 10};
  SUCCEEDS(plait_purification_execute(purification, &problem, h.sources, h.count, d.targets, d.count, NULL));
  CHECK(wrong_elements(&d, density, 1e-9) == 0);
  SUCCEEDS(plait_purification_free(&purification));
  SUCCEEDS(plait_layout_free(&oblong));
  free_matrix(&h);
  free_matrix(&d);
}
