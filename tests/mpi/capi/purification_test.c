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
static double complex in_dual_basis(Element of, plait_index i, plait_index j) {
  double complex sum = of(i, j);
  if (i % 2 == 1) sum -= mixing * of(i - 1, j);
  if (j % 2 == 1) sum -= mixing * of(i, j - 1);
  if (i % 2 == 1 && j % 2 == 1) sum += mixing * mixing * of(i - 1, j - 1);
  return sum;
}
static double complex mixed_density(plait_index i, plait_index j) { return in_dual_basis(density, i, j); }

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

/// A purification of what `now` says in three layouts, with S set where there is an overlap; H is not filled.
typedef struct Planned {
  int with_overlap;
  Matrix h, s, d;
  plait_purification* purification;
} Planned;

static Planned planned(int with_overlap) {
  Planned its = {with_overlap, matrix_in(next_layout(n, n), now.type), matrix_in(next_layout(n, n), now.type),
                 matrix_in(next_layout(n, n), now.type), NULL};
  SUCCEEDS(plait_purification_create(context, now.type, its.h.layout, with_overlap ? its.s.layout : NULL, its.d.layout,
                                     now.triangle, &its.purification));
  if (!with_overlap) return its;
  fill_triangle(&its.s, overlap);
  SUCCEEDS(plait_purification_set_overlap(its.purification, its.s.sources, its.s.count));
  return its;
}
static int executed(Planned* its, const plait_purification_problem* problem, plait_purification_result* result) {
  return plait_purification_execute(its->purification, problem, its->h.sources, its->h.count, its->d.targets,
                                    its->d.count, result);
}
static int is_wrong(const Planned* its) {
  return wrong_elements(&its->d, its->with_overlap ? mixed_density : density, 1e-9) != 0;
}
static void free_planned(Planned* its) {
  SUCCEEDS(plait_purification_free(&its->purification));
  free_matrix(&its->h);
  free_matrix(&its->s);
  free_matrix(&its->d);
}

void density_matrices_are_projectors_onto_the_lowest_states(void) {
  const double between = (level(7) + level(8)) / 2;
  for (int round = 0; round < 12; ++round) {
    const int with_overlap = round % 2;
    now.type = round % 4 < 2 ? PLAIT_DOUBLE : PLAIT_COMPLEX_DOUBLE;
    now.triangle = round % 3;
    now.occupied = round % 6 == PLAIT_PURIFICATION_MCWEENY ? 7 : 2 + next_below(n - 3);
    Planned its = planned(with_overlap);
    plait_purification_problem problem = {.electrons = 2 * now.occupied,
                                          .method = round % 6,
                                          .gershgorin = round == 1,
                                          .most_iterations = round == 3 ? 100 : 0};
    if (problem.method == PLAIT_PURIFICATION_MCWEENY) problem.chemical_potential = &between;
    fill_triangle(&its.h, with_overlap ? mixed_chain : chain);
    plait_purification_result result;
    SUCCEEDS(executed(&its, &problem, &result));
    CHECK(!is_wrong(&its));
    check_result(&result, 2);

    problem.mixed_precision = 1;
    SUCCEEDS(executed(&its, &problem, &result));
    CHECK(wrong_elements(&its.d, with_overlap ? mixed_density : density, 1e-4) == 0);
    CHECK(fabs(result.trace_error) < 1e-9 && result.idempotency_error < 1e-9 && result.commutator_error < 1e-6);
    CHECK(result.lowest_potential < result.highest_potential && result.products > 0);

    // Another number of electrons of the same H and S.
    now.occupied = 1 + next_below(n - 2);
    problem = (plait_purification_problem){.electrons = now.occupied, .electrons_per_state = 1};
    SUCCEEDS(executed(&its, &problem, NULL));
    CHECK(!is_wrong(&its));
    free_planned(&its);
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
    Planned its = planned(with_overlap);
    plait_purification_problem problem = {.electrons = 2 * now.occupied, .method = PLAIT_PURIFICATION_TC2};
    plait_index iterations[4];
    for (int step = 0; step < 4; ++step) {
      if (step == 3) problem.method = PLAIT_PURIFICATION_AUTO;
      stretched = 1 + 1e-3 * step;
      fill_matrix(&its.h, with_overlap ? stretched_mixed_chain : stretched_chain);
      plait_purification_result result;
      SUCCEEDS(executed(&its, &problem, &result));
      CHECK(!is_wrong(&its));
      CHECK(fabs(result.highest_occupied - stretched * level(11)) < 1e-6);
      iterations[step] = result.iterations;
      CHECK(step == 0 || iterations[step] < iterations[0]);
    }
    free_planned(&its);
  }
}

void eigenstates_are_occupied_in_part(void) {
  for (int round = 0; round < 8; ++round) {
    const int with_overlap = round % 2;
    const int is_smeared = round < 4;
    now.type = round % 4 < 2 ? PLAIT_DOUBLE : PLAIT_COMPLEX_DOUBLE;
    now.triangle = round % 3;
    now.occupied = 6;
    Planned its = planned(with_overlap);
    fill_triangle(&its.h, with_overlap ? mixed_chain : chain);
    double values[n];
    const plait_purification_problem problem = {.electrons = is_smeared ? 13 : 12,
                                                .smearing = is_smeared ? PLAIT_SMEARING_FERMI_DIRAC : 0,
                                                .width = is_smeared ? 0.3 : 0,
                                                .eigenvalues = values};
    plait_purification_result result;
    const int code = executed(&its, &problem, &result);
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
      CHECK(!is_wrong(&its));
      now.width = 0;
    }
    free_planned(&its);
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

/// Chains of several lengths at several energies, each with a wave's phases, share their electrons.
enum { points = 4 };
static const plait_index sites[points] = {8, 14, 6, 22};
static int point;
static double filling[points][n];  // which share of each state is occupied

static double hopping(int k) { return 1 + 0.2 * k; }
static double level_at(int k, int state) {
  return 0.1 * k - 2 * hopping(k) * cos((state + 1) * pi / ((double)sites[k] + 1));
}
static double complex point_chain(plait_index i, plait_index j) {
  return turned(i == j ? 0.1 * point : i - j == 1 || j - i == 1 ? -hopping(point) : 0, i, j);
}
static double complex point_density(plait_index i, plait_index j) {
  const double angle = pi / ((double)sites[point] + 1);
  double sum = 0;
  for (int k = 0; k < sites[point]; ++k) {
    sum += filling[point][k] * 2 * angle / pi * sin(angle * (k + 1) * (double)(i + 1)) *
           sin(angle * (k + 1) * (double)(j + 1));
  }
  return turned(sum, i, j);
}
static double complex mixed_point_chain(plait_index i, plait_index j) { return in_basis(point_chain, i, j); }
static double complex mixed_point_density(plait_index i, plait_index j) { return in_dual_basis(point_density, i, j); }

/// Fills all states up to a chemical potential; returns how many they are worth.
static double fill_up_to(double potential, double width, const double* weights) {
  double sum = 0;
  for (int k = 0; k < points; ++k) {
    for (int i = 0; i < sites[k]; ++i) {
      const double x = level_at(k, i) - potential;
      filling[k][i] = width == 0 ? x < 0 : 1 / (1 + exp(x / width));
      sum += weights[k] * filling[k][i];
    }
  }
  return sum;
}

void points_share_their_electrons(void) {
  const double unequal[points] = {1, 3, 2, 2};
  for (int round = 0; round < 8; ++round) {
    const int with_overlap = round % 2;
    const int spins = 1 + round / 2 % 2;
    const int is_smeared = round < 4;
    now.type = round % 4 < 2 ? PLAIT_DOUBLE : PLAIT_COMPLEX_DOUBLE;
    now.triangle = round % 3;
    double weights[points];
    for (int k = 0; k < points; ++k) weights[k] = is_smeared && spins == 1 ? unequal[k] / 8 : spins / 4.0;
    const plait_points_problem problem = {.electrons = is_smeared ? 9 : 7,
                                          .electrons_per_state = is_smeared || spins == 2 ? 0 : 1,
                                          .spins = spins,
                                          .weights = is_smeared && spins == 1 ? unequal : NULL,
                                          .smearing = is_smeared ? PLAIT_SMEARING_FERMI_DIRAC : 0,
                                          .width = is_smeared ? 0.3 : 0};
    const int per_state = is_smeared && spins == 1 ? 2 : 1;
    plait_points* all = NULL;
    SUCCEEDS(plait_points_create(context, now.type, now.triangle, sites, points, &all));
    for (point = points; point-- > 0;) {
      Matrix h = matrix_in(next_layout(sites[point], sites[point]), now.type);
      Matrix s = matrix_in(next_layout(sites[point], sites[point]), now.type);
      fill_triangle(&h, with_overlap ? mixed_point_chain : point_chain);
      fill_triangle(&s, overlap);
      SUCCEEDS(plait_points_set(all, point, h.layout, h.sources, h.count, with_overlap ? s.layout : NULL, s.sources,
                                s.count));
      free_matrix(&h);
      free_matrix(&s);
    }
    plait_points_result result;
    SUCCEEDS(plait_points_fill(all, &problem, &result));

    double low = -10, high = 10;
    for (int halvings = 0; halvings < 60; ++halvings) {
      const double middle = (low + high) / 2;
      *(fill_up_to(middle, problem.width, weights) < problem.electrons / per_state ? &low : &high) = middle;
    }
    const double electrons = per_state * fill_up_to(high + 1e-9, problem.width, weights);
    CHECK(fabs(electrons - problem.electrons) < 1e-6);
    CHECK(result.lowest_potential < high + 1e-8 && result.highest_potential > high - 1e-8);
    double energy = 0, entropy = 0, highest = -10, lowest = 10;
    for (int k = 0; k < points; ++k) {
      double energies[n], occupations[n];
      SUCCEEDS(plait_points_states(all, k, energies, occupations));
      for (int i = 0; i < sites[k]; ++i) {
        const double f = filling[k][i];
        CHECK(fabs(energies[i] - level_at(k, i)) < 1e-9 && fabs(occupations[i] - f) < 1e-7);
        energy += per_state * weights[k] * f * energies[i];
        if (is_smeared) entropy -= per_state * weights[k] * (f * log(f) + (1 - f) * log(1 - f));
        if (f > 0.5 && energies[i] > highest) highest = energies[i];
        if (f < 0.5 && energies[i] < lowest) lowest = energies[i];
      }
    }
    CHECK(fabs(result.energy - energy) < 1e-6 && fabs(result.entropy - entropy) < 1e-6);
    CHECK(is_smeared || (fabs(result.highest_occupied - highest) < 1e-9 && fabs(result.lowest_empty - lowest) < 1e-9 &&
                         result.direct_gap >= lowest - highest - 1e-9));
    for (point = 0; point < points; ++point) {
      Matrix d = matrix_in(next_layout(sites[point], sites[point]), now.type);
      SUCCEEDS(plait_points_take(all, point, d.layout, d.targets, d.count));
      CHECK(wrong_elements(&d, with_overlap ? mixed_point_density : point_density, 1e-7) == 0);
      free_matrix(&d);
    }
    SUCCEEDS(plait_points_free(&all));
  }
}

void wrong_points_fail_on_all_ranks(void) {
  const int last = this_rank == all_ranks - 1;
  const plait_index negative[2] = {3, -1};
  now.type = PLAIT_DOUBLE, now.triangle = PLAIT_WHOLE, point = 0;
  plait_points* all = NULL;
  FAILS(plait_points_create(context, now.type, 0, last ? negative : sites, 2, &all), PLAIT_ERROR_ARGUMENT,
        "states[1]: is -1, expected at least 1");
  FAILS(plait_points_create(context, now.type, 0, sites, 0, &all), PLAIT_ERROR_ARGUMENT, "count: is 0");
  FAILS(plait_points_create(context, PLAIT_FLOAT, 0, sites, 1, &all), PLAIT_ERROR_ARGUMENT, "type: is 8");
  SUCCEEDS(plait_points_create(context, now.type, 0, sites, 2, &all));
  Matrix h = matrix_in(layout_of("rows@{P}", 8, 8), now.type);
  fill_matrix(&h, point_chain);
  FAILS(plait_points_set(all, last ? 2 : 0, h.layout, h.sources, h.count, NULL, NULL, 0), PLAIT_ERROR_ARGUMENT,
        "point: is 2, expected at least 0 and less than 2");
  FAILS(plait_points_set(all, 1, h.layout, h.sources, h.count, NULL, NULL, 0), PLAIT_ERROR_SHAPE,
        "h: is 8 x 8, expected 14 x 14");
  SUCCEEDS(plait_points_set(all, 0, h.layout, h.sources, h.count, NULL, NULL, 0));
  plait_points_problem problem = {.electrons = 6};
  FAILS(plait_points_fill(all, &problem, NULL), PLAIT_ERROR_ARGUMENT, "point 1 has no Hamiltonian yet");
  Matrix second = matrix_in(layout_of("cols@{P}", 14, 14), now.type);
  fill_matrix(&second, point_chain);
  SUCCEEDS(plait_points_set(all, 1, second.layout, second.sources, second.count, NULL, NULL, 0));
  FAILS(plait_points_take(all, 0, h.layout, h.targets, h.count), PLAIT_ERROR_ARGUMENT, "have no density matrices");
  FAILS(plait_points_fill(all, last ? NULL : &problem, NULL), PLAIT_ERROR_ARGUMENT, "problem: is NULL");
  problem.electrons = last ? 23 : 6;
  FAILS(plait_points_fill(all, &problem, NULL), PLAIT_ERROR_ARGUMENT, "electrons: is 23");
  const double weights[2] = {1, -1};
  problem = (plait_points_problem){.electrons = 6, .weights = last ? weights : NULL};
  FAILS(plait_points_fill(all, &problem, NULL), PLAIT_ERROR_ARGUMENT, "weights: has -1");
  problem = (plait_points_problem){.electrons = 6, .spins = 3};
  FAILS(plait_points_fill(all, &problem, NULL), PLAIT_ERROR_ARGUMENT, "spins: is 3");
  problem = (plait_points_problem){.electrons = 6.25};
  FAILS(plait_points_fill(all, &problem, NULL), PLAIT_ERROR_NO_GAP, "would be occupied in part");
  problem.electrons = 6;
  SUCCEEDS(plait_points_fill(all, &problem, NULL));
  FAILS(plait_points_take(all, 0, second.layout, second.targets, second.count), PLAIT_ERROR_SHAPE, "d: is 14 x 14");
  FAILS(plait_points_states(all, -1, NULL, NULL), PLAIT_ERROR_ARGUMENT, "point: is -1");
  SUCCEEDS(plait_points_take(all, 0, h.layout, h.targets, h.count));
  SUCCEEDS(plait_points_free(&all));
  free_matrix(&h);
  free_matrix(&second);
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
  if (all_ranks < 4) {  // on more, ScaLAPACK may be missing
    problem.method = PLAIT_PURIFICATION_EIGEN;
    FAILS(plait_purification_begin(purification, &problem, h.sources, h.count), PLAIT_ERROR_NO_GAP, "no gap");
    problem.method = PLAIT_PURIFICATION_AUTO;
  }
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
  FAILS(plait_purification_begin(purification, &problem, h.sources, h.count), PLAIT_ERROR_ARGUMENT,
        "method: is 7, expected one of 0 to 6");
  problem = (plait_purification_problem){.electrons = 10, .smearing = last ? 4 : PLAIT_SMEARING_GAUSSIAN, .width = 1};
  FAILS(plait_purification_begin(purification, &problem, h.sources, h.count), PLAIT_ERROR_ARGUMENT, "smearing: is 4");
  problem = (plait_purification_problem){.electrons = 10, .method = PLAIT_PURIFICATION_TC2, .smearing = last};
  FAILS(plait_purification_begin(purification, &problem, h.sources, h.count), PLAIT_ERROR_ARGUMENT,
        "smearing: takes eigenstates");
  problem = (plait_purification_problem){.electrons = 10, .method = PLAIT_PURIFICATION_EIGEN, .mixed_precision = last};
  FAILS(plait_purification_begin(purification, &problem, h.sources, h.count), PLAIT_ERROR_ARGUMENT,
        "mixed_precision: is given");
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
