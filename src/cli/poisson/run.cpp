#include "cli/poisson/run.hpp"

#include <numbers>
#include <tuple>

#include "plait/halo/exchange.hpp"
#include "plait/poisson/multigrid.hpp"

#include "cli/host/arrays.hpp"

namespace plait::cli {

namespace {

using layout::BoxPartition;
using poisson::Method;

// Beyond this ratio of neighbours a V-cycle alone takes more than twice as many iterations as with conjugate gradients.
constexpr double much = 4;

/// The solver as the host drives it: checkpoints hold vectors in the order of the array, so that any number of ranks
/// can go on; and iterations may end where less is left of them than the discretisation is off by.
class Iteration {
 public:
  Iteration(mpi::Context& context, poisson::Solver& solver, const BoxPartition& boxes, const BoxPartition& slices,
            poisson::TwoLevels* until, double eigenvalue)
      : context_(context),
        solver_(solver),
        boxes_(boxes),
        slices_(slices),
        until_(until),
        most_per_residual_(until == nullptr ? 0 : solver.check().right_side / eigenvalue) {
    mpi::agreed(context, [&] { u_.resize(static_cast<std::size_t>(boxes.box(context.rank()).points())); });
  }

  bool advance() {
    const bool goes_on = solver_.advance();
    state_ = solver_.state();
    // Seldom in long runs, as it takes longer than their iterations; the same in resumed ones.
    constexpr Index few = 16;
    if (until_ == nullptr || !goes_on || (state_.step > few && state_.step % few != 0)) return goes_on;
    solver_.copy_solution(u_);
    const double left = most_per_residual_ * solver_.residual();
    const double off = until_->error(u_)->mean_square;
    constexpr double share = 0.25;  // little, as what is left of the iteration is a part of `off`, too
    if (!(left <= share * off)) return true;
    state_.end = iterate::End::converged;
    state_.reason = fmt::format("the iteration is off by {:.2e} at most, the discretisation by {:.2e}", left, off);
    return false;
  }
  [[nodiscard]] const iterate::State& state() const noexcept { return state_; }

  void save(iterate::Checkpoint& checkpoint) const {
    solver_.save(checkpoint);
    for (auto& [name, values] : checkpoint.by_rank) values = halo::moved(context_, boxes_, values, slices_);
  }
  void resume(const iterate::Checkpoint& from) {
    iterate::Checkpoint checkpoint = from;
    for (auto& [name, values] : checkpoint.by_rank) values = halo::moved(context_, slices_, values, boxes_);
    solver_.resume(checkpoint);
    state_ = solver_.state();
  }

 private:
  mpi::Context& context_;
  poisson::Solver& solver_;
  const BoxPartition& boxes_;
  const BoxPartition& slices_;
  poisson::TwoLevels* until_;
  double most_per_residual_;  // what u may be off by for a ‖b - A u‖/‖b‖ of 1, √(mean of squares)
  std::vector<double> u_;
  iterate::State state_;
};

/// No eigenvalue of A is less, but the 0 of constants where u is given nowhere: the least one for the least k
/// everywhere.
double least_eigenvalue(mpi::Context& context, const poisson::Axes& axes, const std::vector<double>& k) {
  double given = 0, step = INFINITY;  // where u is given, and from 0 to the next one
  for (const poisson::Axis& axis : axes) {
    if (!axis.is_used()) continue;
    const auto of_angle = [&](double angle) {
      const double root = 2 * std::sin(angle * std::numbers::pi * axis.spacing() / axis.length() / 2) / axis.spacing();
      return root * root;
    };
    const auto values = std::ranges::count(axis.sides(), poisson::Side::value);
    if (values > 0) {
      given += of_angle(values == 2 ? 1 : 0.5);
    } else if (axis.extent() > 1) {
      step = std::min(step, of_angle(axis.is_periodic() ? 2 : 1));
    }
  }
  const double least_k = k.empty() ? INFINITY : *std::ranges::min_element(k);
  const double least = mpi::all_reduce(context.comm(), least_k, mpi::Operation::minimum());
  return (std::isinf(least) ? 1 : least) * (given > 0 ? given : step);
}

/// Cycles or transforms, for a k that is the same everywhere. Transforms take half the time of cycles in space and as
/// much in a plane, unless extents have large prime factors; ranks exchange all values several times.
std::pair<Method, std::string> quickest(mpi::Context& context, const PoissonTask& task, const poisson::Axes& axes) {
  std::string why = task.k.empty() ? "k is 1" : "k is the same everywhere";
  if (task.grid.extents.size() < 3) return {Method::v_cycles, why};
  if (context.placement().nodes() > 1) return {Method::v_cycles, why + ", and nodes would exchange all values for fft"};
  const Index available = poisson::FourierSolver::is_available() ? 1 : 0;
  if (mpi::all_reduce(context.comm(), available, mpi::Operation::minimum()) == 0) {
    return {Method::v_cycles, why + "; with FFTW (libfftw3-double3) fft would take half the time"};
  }
  if (!poisson::FourierSolver::is_quick(axes)) {
    return {Method::v_cycles, why + ", and extents have large prime factors for fft"};
  }
  return {Method::fft, why + "; v would take about twice as long"};
}

/// The method, and why where it was not chosen by the user.
std::pair<Method, std::string> method_of(mpi::Context& context, const PoissonTask& task, const poisson::Axes& axes,
                                         double jump) {
  if (task.method) return {*task.method, ""};
  if (task.mask) return {Method::multigrid_conjugate_gradients, "points are outside"};
  if (task.is_by_face) return {Method::multigrid_conjugate_gradients, "k is given by face"};
  if (jump > much) {
    return {Method::multigrid_conjugate_gradients, fmt::format("k jumps by {:.3g} between neighbours", jump)};
  }
  if (!task.tolerance) return {Method::full_multigrid, "it reaches the error of the discretisation first"};
  if (jump > 1) return {Method::f_cycles, fmt::format("k changes by {:.3g} at most between neighbours", jump)};
  return quickest(context, task, axes);
}

/// \param mask  of points that are left out, where it is not 0
FieldPicture picture_of(Work& work, const PoissonTask& task, const BoxPartition& boxes, const std::vector<double>& mask,
                        const std::vector<double>& u) {
  auto picture = mpi::agreed(work.context, [&] { return FieldPicture(task.input.extents.list(), task.grid.spacing); });
  std::size_t number = 0;
  layout::for_each_point(boxes.box(work.context.rank()), [&](const layout::Point& point) {
    if (mask.empty() || mask[number] == 0) picture.add(point, u[number]);
    ++number;
  });
  picture.unite(work.context);
  return picture;
}

void expect_extents(const Work& work, InputFile file, const io::Extents& extents, const std::string& why) {
  file.path = work.files.called(file.path);
  expect_real(file);
  if (file.extents == extents) return;
  throw ShapeMismatch(
      fmt::format("{} is {}, expected {}{}", file.path, io::to_string(file.extents), io::to_string(extents), why));
}

/// Of one file for an array of one axis, the length tells whether it is k at points or at faces.
void expect_coefficient(const Work& work, PoissonTask& task) {
  const io::Extents& extents = task.input.extents;
  const std::size_t dimensions = extents.list().size();
  const auto of_faces = [&](std::size_t axis) {
    io::Extents faces = extents;
    const bool is_periodic = task.sides.of(extents.dimensions)[axis][0] == poisson::Side::periodic;
    faces.values[axis] += is_periodic ? 0 : 1;
    return faces;
  };
  if (task.k.empty()) return;
  const bool fits_faces = dimensions == 1 && task.k[0].extents == of_faces(0);
  task.is_by_face = task.k.size() > 1 || (fits_faces && task.k[0].extents != extents);
  if (!task.is_by_face) {
    return expect_extents(work, task.k[0], extents, fmt::format(", as {} is", task.input.path));
  }
  if (task.k.size() != dimensions) {
    throw ArgumentError(
        fmt::format("--coefficient: {} files are given, expected 1, or {} for the faces across each axis",
                    task.k.size(), dimensions));
  }
  for (std::size_t d = 0; d < dimensions; ++d) {
    expect_extents(work, task.k[d], of_faces(d), fmt::format(", the faces across axis {}", d));
  }
}

}  // namespace

std::vector<Index> prepare_poisson(Work& work, PoissonTask& task) {
  mpi::Context& context = work.context;
  for (InputFile& file : task.k) file.describe(context, io::arrays);
  const io::Extents& extents = task.input.extents;
  std::vector<Index> phases = mpi::agreed(context, [&] {
    for (const InputFile* file : {&task.input, &task.start, &task.mask}) {
      if (*file) expect_extents(work, *file, extents, fmt::format(", as {} is", task.input.path));
    }
    if (layout::elements(task.input.shape) == 0) {
      throw ArgumentError(fmt::format("{} is {}, expected points", task.input.path, io::to_string(extents)));
    }
    const auto dimensions = extents.list().size();
    expect_coefficient(work, task);
    if (task.spacing.size() != 1 && task.spacing.size() != dimensions) {
      throw ArgumentError(fmt::format("--spacing: {} numbers are given, expected 1 or {}, as {} is {}",
                                      task.spacing.size(), dimensions, task.input.path, io::to_string(extents)));
    }
    task.spacing.resize(dimensions, task.spacing[0]);
    task.grid = {
        {extents.list().begin(), extents.list().end()}, task.spacing, task.points, task.sides.of(extents.dimensions)};
    const auto boxes = layout::BoxPartition::for_ranks(task.grid.box(), context.size());
    const auto slices = slices_of(boxes.whole(), extents.dimensions, task.input.order, context.size());
    const Index own = boxes.box(context.rank()).points() * Index{sizeof(double)};
    const Index slab = slices.box(context.rank()).points() * Index{sizeof(double)};
    const bool varies = !task.k.empty() || task.mask;
    const Index inputs = own * (2 + std::max<Index>(std::ssize(task.k), varies ? 1 : 0));
    return std::vector{inputs + 3 * slab, inputs + own * (varies ? 32 : 16), inputs + 2 * slab};
  });
  // What a side without a name is depends on how many there are.
  const auto has_flux = [](const poisson::Axis::Sides& sides) {
    return sides[0] == poisson::Side::flux || sides[1] == poisson::Side::flux;
  };
  if (task.points == poisson::Points::nodes && std::ranges::any_of(task.grid.sides, has_flux)) {
    throw UsageError("--boundary has a flux, which nodes can't have: expected --at cells, or value or periodic");
  }
  task.sides.describe(context, extents);
  return phases;
}

PoissonOutcome run_poisson(Work& work, const PoissonTask& task) {
  mpi::Context& context = work.context;
  const poisson::Axes axes = poisson::axes_of(context, task.grid);
  const int dimensions = task.input.extents.dimensions;
  const BoxPartition boxes = mpi::agreed(context, [&] {
    return poisson::Multigrid::partition(axes, BoxPartition::for_ranks(task.grid.box(), context.size()));
  });
  const BoxPartition slices = slices_of(boxes.whole(), dimensions, StorageOrder::row_major, context.size());
  const auto read = [&](const InputFile& file) { return file ? read_box(work, file, boxes) : std::vector<double>(); };
  std::vector<double> f = read(task.input);
  std::vector<double> k = task.k.empty() || task.is_by_face ? std::vector<double>() : read(task.k[0]);
  std::vector<std::vector<double>> faces;
  for (std::size_t d = 0; task.is_by_face && d < task.k.size(); ++d) {
    faces.push_back(read_box(work, task.k[d], poisson::faces_of(axes, boxes, poisson::first_axis(axes) + d)));
  }
  const poisson::Coefficient coefficient = task.is_by_face ? poisson::Coefficient({faces.begin(), faces.end()}) : k;
  std::vector<double> start = read(task.start);
  PoissonOutcome outcome;
  poisson::Options options = task.options;
  const std::vector<double> mask = read(task.mask);
  mpi::agreed(context, [&] {
    const auto bad = std::ranges::find_if(mask, [](double value) { return std::isnan(value); });
    if (bad == mask.end()) return;
    const layout::Point point = boxes.box(context.rank()).point_at(bad - mask.begin());
    throw ArgumentError(fmt::format("{}: is nan at ({}), expected a number", work.files.called(task.mask.path),
                                    fmt::join(std::span(point).subspan(poisson::first_axis(axes)), ", ")));
  });
  for (const double value : mask) {
    const std::size_t point = options.outside.points.size();
    options.outside.points.push_back(value != 0);
    outcome.outside_points += value != 0 ? 1 : 0;
    if (value != 0 && !k.empty() && options.outside.side == poisson::Side::flux) k[point] = 0;
  }
  outcome.outside_points = mpi::all_reduce(context.comm(), outcome.outside_points, mpi::Operation::sum());
  outcome.jump = poisson::largest_jump(context, axes, boxes, coefficient);
  std::tie(outcome.method, outcome.why) = method_of(context, task, axes, outcome.jump);
  options.method = outcome.method;
  options.limits.tolerance = task.tolerance.value_or(0);
  options.boundary = task.sides.values(work, axes);
  work.meter.stage("preparing", 0, 0);
  poisson::Solver solver(context, axes, boxes, coefficient, f, start, options);
  if (options.multigrid.smoother != poisson::Smoother::red_black && !solver.multigrid()) {
    throw ArgumentError(fmt::format(
        "--smoother: is jacobi, but the method is {}{}{}, which has no such cycles; expected red-black, or v, w, f or "
        "fmg as --method",
        name(outcome.method), solver.black_box() ? " with black-box multigrid" : "",
        outcome.why.empty() ? "" : ", as " + outcome.why));
  }
  outcome.omega = solver.omega();
  outcome.parts = solver.parts();
  outcome.norm = solver.norm();
  outcome.has_black_box = solver.black_box() != nullptr;
  outcome.steps_per_exchange = solver.steps_per_exchange();
  if (outcome.jump > much) options.method = Method::multigrid_conjugate_gradients;
  poisson::TwoLevels levels(context, axes, boxes, coefficient, f, options);
  if (!task.tolerance && !levels.is_known()) {
    throw ArgumentError("--tolerance: there is no second grid to tell truncation by, expected a number");
  }
  Iteration iteration(context, solver, boxes, slices, task.tolerance ? nullptr : &levels,
                      least_eigenvalue(context, axes, k));

  std::vector<std::string> inputs{task.input.path};
  for (const InputFile& file : task.k) inputs.push_back(file.path);
  inputs.insert(inputs.end(), {task.start.path, task.mask.path});
  for (const std::string* path : task.sides.files()) inputs.push_back(*path);
  Checkpoints checkpoints(context, work.settings, task.options.limits.most_iterations,
                          {inputs,
                           {{"method", name(outcome.method)},
                            {"spacing", task.spacing},
                            {"boundary", task.sides.text()},
                            {"at", task.points == poisson::Points::cells ? "cells" : "nodes"},
                            {"outside", task.options.outside.side == poisson::Side::flux ? "flux" : "value"},
                            {"omega", outcome.omega},
                            {"steps per exchange", outcome.steps_per_exchange},
                            {"project", task.options.project}},
                           slices.box(context.rank()).points()});
  outcome.iterated = work.iterate(iteration, checkpoints, [&] {
    return fmt::format("iteration {}, {} {:.2e}", iteration.state().step, outcome.norm, iteration.state().error);
  });
  outcome.errors = solver.errors();
  const bool is_hopeless = outcome.iterated.state.end == iterate::End::numbers && !(outcome.iterated.state.error < 1);
  if (is_hopeless) {
    throw NoResult("numerical limit", outcome.iterated.state.reason + "; nothing was written");
  }

  std::vector<double> u = mpi::agreed(context, [&] { return std::vector<double>(f.size()); });
  solver.copy_solution(u);
  outcome.check = solver.check();
  outcome.hidden_reductions = solver.hidden_reductions();
  outcome.estimated_error = solver.estimated_error();
  outcome.subtracted = solver.subtracted();
  outcome.balance = solver.balance();
  outcome.discretisation = levels.error(u);
  std::array<double, 2> extremes{-INFINITY, -INFINITY};  // of -u and of u, in the domain
  for (std::size_t i = 0; i < u.size(); ++i) {
    if (mask.empty() || mask[i] == 0) extremes = {std::max(extremes[0], -u[i]), std::max(extremes[1], u[i])};
  }
  outcome.lowest = -work.highest(extremes[0]);
  outcome.highest = work.highest(extremes[1]);
  if (!work.settings.page.empty()) outcome.picture = picture_of(work, task, boxes, mask, u);
  std::vector<double> origin;
  for (const double spacing : task.grid.spacing) {
    origin.push_back(task.points == poisson::Points::cells ? 0 : spacing);
  }
  write_box(work, task.output, {task.input.extents, task.grid.spacing, origin, task.points == poisson::Points::cells},
            "u", boxes, u);
  checkpoints.end(outcome.iterated.state.end, outcome.iterated.state.reason);
  return outcome;
}

}  // namespace plait::cli
