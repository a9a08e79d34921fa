#include "plait/poisson/fourier.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <mutex>
#include <numbers>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "plait/base/error.hpp"
#include "plait/base/loaded_library.hpp"
#include "plait/base/memory.hpp"
#include "plait/base/rounding.hpp"
#include "plait/halo/exchange.hpp"
#include "plait/mpi/agreed.hpp"
#include "plait/poisson/problem.hpp"

namespace plait::poisson {

namespace {

using layout::Box;
using layout::BoxPartition;

// What fftw3.h declares, which need not be there.
enum TransformKind : int { r2hc = 0, hc2r = 1, redft01 = 4, redft10, redft11, rodft00, rodft01, rodft10, rodft11 };
constexpr unsigned estimate = 1U << 6U;  // plans that no measurement has a part in: the same on all ranks

struct Fftw {
  Fftw() : library("fast Fourier transforms", "FFTW", {"fftw_plan_r2r_1d"}, {"libfftw3.so.3"}, "libfftw3-double3") {
    library.find("fftw_plan_r2r_1d", plan);
    library.find("fftw_execute_r2r", execute);
    library.find("fftw_destroy_plan", destroy);
  }

  LoadedLibrary library;
  std::mutex mutex{};  // only plans that exist can be used by several threads
  void* (*plan)(int, double*, double*, int, unsigned) = nullptr;
  void (*execute)(void*, double*, double*) = nullptr;
  void (*destroy)(void*) = nullptr;
};

Fftw& fftw() {
  static Fftw loaded;
  return loaded;
}

/// A transform of one line in place.
class LineTransform {
 public:
  LineTransform(Index n, TransformKind kind, double* line) {
    const std::scoped_lock lock(fftw().mutex);
    plan_ = fftw().plan(static_cast<int>(n), line, line, kind, estimate);
    if (plan_ == nullptr)
      throw Error(ErrorKind::other, fmt::format("FFTW has no transform {} of length {}", int{kind}, n));
  }
  LineTransform(LineTransform&& other) noexcept : plan_(std::exchange(other.plan_, nullptr)) {}
  LineTransform& operator=(LineTransform&&) = delete;
  ~LineTransform() {
    if (plan_ == nullptr) return;
    const std::scoped_lock lock(fftw().mutex);
    fftw().destroy(plan_);
  }

  void operator()(double* line) const { fftw().execute(plan_, line, line); }

 private:
  void* plan_;
};

// The eigenvectors along an axis.
struct AxisTransforms {
  TransformKind forward, backward;
  double norm;   // both together multiply by it
  double shift;  // vector i has an angle of π (i + shift) / length between points, but on a periodic axis
  double length;
};

AxisTransforms transforms_of(const Axis& axis) {
  const auto n = static_cast<double>(axis.extent());
  const auto [below, above] = axis.sides();
  if (axis.is_periodic()) return {r2hc, hc2r, n, 0, n};
  if (axis.first_coarse() == 1) return {rodft00, rodft00, 2 * (n + 1), 1, n + 1};  // nodes
  if (below == Side::value && above == Side::value) return {rodft10, rodft01, 2 * n, 1, n};
  if (below == Side::flux && above == Side::flux) return {redft10, redft01, 2 * n, 0, n};
  const TransformKind same = below == Side::value ? rodft11 : redft11;
  return {same, same, 2 * n, 0.5, n};
}

std::vector<double> eigenvalues(const Axis& axis) {
  std::vector<double> result;
  const auto [forward, backward, norm, shift, length] = transforms_of(axis);
  for (Index i = 0; i < axis.extent(); ++i) {
    const double number =
        axis.is_periodic() ? static_cast<double>(2 * std::min(i, axis.extent() - i)) : static_cast<double>(i) + shift;
    const double root = 2 / axis.spacing() * std::sin(std::numbers::pi * number / (2 * length));
    result.push_back(axis.is_used() ? root * root : 0);
  }
  return result;
}

void expect_equal_stretches(const Axes& axes) {
  for (std::size_t a = 0; a < layout::axes; ++a) {
    const Axis& axis = axes[a];
    constexpr Index most = std::numeric_limits<int>::max() / 4;
    if (axis.extent() > most) {
      throw ArgumentError(fmt::format("extents: one is {}, expected at most {} for fft", axis.extent(), most));
    }
    const double expected = axis.spacing() * static_cast<double>(axis.extent() + axis.first_coarse());
    if (std::abs(axis.length() - expected) > 1e-9 * expected) {
      throw ArgumentError(fmt::format("axes: stretches of axis {} differ, expected equal ones for fft", a));
    }
  }
}

constexpr Index doubles_a_line = static_cast<Index>(Buffer::alignment / sizeof(double));

}  // namespace

// Parts of the pencils along each axis: those along axis 2 cut axes 0 and 1, and so on. Axis 1 is cut last, as slabs
// are turned once less.
struct FourierSolver::Stages {
  struct Stage {
    std::size_t axis;
    BoxPartition partition;
    std::size_t memory;  // which field has the values
    LineTransform forward, backward;
    std::unique_ptr<halo::Exchange> down{}, up{};  // to the next stage and back, where its parts are others
  };

  static std::array<layout::BoxPartition::Parts, layout::axes> parts(const Axes& axes, int ranks) {
    const auto most = [&](std::size_t a, int count) {
      return static_cast<int>(std::min<Index>(count, axes[a].extent()));
    };
    int p = 1, q = 1;
    for (int first = most(0, ranks); first >= 1; --first) {
      const int second = most(1, ranks / first);
      if (first == most(0, ranks) || first * second > p * q) p = first, q = second;
    }
    return {BoxPartition::Parts{1, most(1, p), most(2, q)}, {p, 1, most(2, q)}, {p, q, 1}};
  }

  void for_each_line(Stage& stage, auto&& f) {
    const Box own = stage.partition.box(context.rank());
    if (own.is_empty()) return;
    const Index n = own.extent(static_cast<int>(stage.axis));
    Index inner = 1;
    for (std::size_t a = stage.axis + 1; a < layout::axes; ++a) inner *= own.extent(static_cast<int>(a));
    const Index pitch = rounded_up(n, doubles_a_line);
    for (Index outer = 0; outer < own.points() / (n * inner); ++outer) {
      for (Index begin = 0; begin < inner; begin += most_lines) {
        const Index count = std::min(most_lines, inner - begin);
        double* const values = fields[stage.memory].data() + outer * n * inner + begin;
        for (Index i = 0; i < n; ++i) {
          for (Index l = 0; l < count; ++l) lines[l * pitch + i] = values[i * inner + l];
        }
        for (Index l = 0; l < count; ++l) f(lines.data() + l * pitch, begin + l);
        for (Index i = 0; i < n; ++i) {
          for (Index l = 0; l < count; ++l) values[i * inner + l] = lines[l * pitch + i];
        }
      }
    }
  }

  void divide_by_eigenvalues(Stage& stage) {
    const Box own = stage.partition.box(context.rank());
    const std::vector<double>& along = values_of[stage.axis];
    for_each_line(stage, [&](double* line, Index number) {
      const Index x = number % own.extent(2), j = number / own.extent(2);
      double others = 0;
      if (stage.axis < 2) others += values_of[2][at(own.low[2] + x)];
      if (stage.axis < 1) others += values_of[1][at(own.low[1] + j)];
      stage.forward(line);
      for (std::size_t i = 0; i < along.size(); ++i) {
        const double value = others + along[i];
        line[i] = value > 0 ? line[i] / (factor * value) : 0;
      }
      stage.backward(line);
    });
  }

  void move(const std::unique_ptr<halo::Exchange>& exchange, const Stage& from, const Stage& to) {
    if (exchange == nullptr) return;
    const halo::Field field{fields[from.memory].data(), fields[to.memory].data()};
    (*exchange)(std::span(&field, 1));
  }

  static constexpr Index most_lines = 16;

  mpi::Context& context;
  double factor;  // of eigenvalues: k, and what transforms multiply by
  std::array<std::vector<double>, layout::axes> values_of{};
  std::vector<std::vector<double>> fields{};
  Array<double> lines{};
  std::vector<Stage> stages{};  // from the last axis to the first
};

BoxPartition FourierSolver::partition(const Axes& axes, int ranks) {
  return {box_of(axes), Stages::parts(axes, ranks)[2], ranks};
}

bool FourierSolver::is_available() noexcept {
  try {
    return fftw().plan != nullptr;
  } catch (const Error&) {
    return false;
  }
}

bool FourierSolver::is_quick(const Axes& axes) {
  return std::ranges::all_of(axes, [](const Axis& axis) {
    auto length = static_cast<Index>(transforms_of(axis).length);
    for (const Index prime : {2, 3, 5, 7, 11, 13}) {
      while (length % prime == 0) length /= prime;
    }
    return length == 1;
  });
}

FourierSolver::FourierSolver(mpi::Context& context, const Axes& axes, double k) {
  mpi::agreed(context, [&] {
    expect_equal_stretches(axes);
    stages_ = std::make_unique<Stages>(Stages{context, k});
    Index longest = 0;
    for (const Axis& axis : axes) longest = std::max(longest, axis.extent());
    stages_->lines = Array<double>(Stages::most_lines * rounded_up(longest, doubles_a_line));
    const Box whole = box_of(axes);
    const auto parts = Stages::parts(axes, context.size());
    for (std::size_t a = layout::axes; a-- > 0;) {
      stages_->values_of[a] = eigenvalues(axes[a]);
      if (!axes[a].is_used()) continue;
      const AxisTransforms kinds = transforms_of(axes[a]);
      stages_->factor *= kinds.norm;
      BoxPartition here(whole, parts[a], context.size());
      if (stages_->stages.empty() || here != stages_->stages.back().partition) {
        stages_->fields.emplace_back(at(here.box(context.rank()).points()));
      }
      stages_->stages.push_back({a, std::move(here), stages_->fields.size() - 1,
                                 LineTransform(axes[a].extent(), kinds.forward, stages_->lines.data()),
                                 LineTransform(axes[a].extent(), kinds.backward, stages_->lines.data())});
    }
  });
  for (std::size_t s = 0; s + 1 < stages_->stages.size(); ++s) {
    auto &stage = stages_->stages[s], &next = stages_->stages[s + 1];
    if (stage.memory == next.memory) continue;
    const auto exchange = [&](const BoxPartition& from, const BoxPartition& to) {
      return std::make_unique<halo::Exchange>(context, halo::Filling{.from = from, .to = to}, Index{sizeof(double)}, 1,
                                              "transpose");
    };
    stage.down = exchange(stage.partition, next.partition);
    stage.up = exchange(next.partition, stage.partition);
  }
}

FourierSolver::~FourierSolver() = default;

void FourierSolver::solve(std::span<double> values) {
  std::vector<Stages::Stage>& stages = stages_->stages;
  std::vector<double>& field = stages_->fields.front();
  std::ranges::copy(values, field.begin());
  const std::size_t last = stages.size() - 1;
  for (std::size_t s = 0; s < last; ++s) {
    stages_->for_each_line(stages[s], [&](double* line, Index) { stages[s].forward(line); });
    stages_->move(stages[s].down, stages[s], stages[s + 1]);
  }
  stages_->divide_by_eigenvalues(stages[last]);
  for (std::size_t s = last; s-- > 0;) {
    stages_->move(stages[s].up, stages[s + 1], stages[s]);
    stages_->for_each_line(stages[s], [&](double* line, Index) { stages[s].backward(line); });
  }
  std::ranges::copy(field, values.begin());
}

}  // namespace plait::poisson
