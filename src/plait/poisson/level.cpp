#include "plait/poisson/level.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <utility>

#include "plait/mpi/collectives.hpp"

namespace plait::poisson {

namespace {

layout::Point layers_of(const Axes& axes, Index width) {
  layout::Point layers{};
  for (std::size_t a = 0; a < layout::axes; ++a) layers[a] = axes[a].is_used() || a == 2 ? width : 0;
  return layers;
}

}  // namespace

double largest(std::span<const double> values) {
  std::array<double, most_lanes> most{};  // apart, as compilers keep the order of a single one
  std::size_t begin = 0;
  for (; begin + most.size() <= values.size(); begin += most.size()) {
    for (std::size_t lane = 0; lane < most.size(); ++lane) {
      most[lane] = std::max(most[lane], std::abs(values[begin + lane]));
    }
  }
  for (; begin < values.size(); ++begin) most[0] = std::max(most[0], std::abs(values[begin]));
  return std::ranges::max(most);
}

Level::Level(mpi::Context& context, const Axes& axes, layout::BoxPartition partition, Index width)
    : axes_(axes),
      partition_(std::move(partition)),
      width_(width),
      layers_(layers_of(axes, width)),
      own_(partition_.box(context.rank())),
      memory_(own_.grown(layers_)),
      plane_(layers_[0] > 0 ? memory_.extent(1) * memory_.extent(2) : 0),
      pitch_(layers_[1] > 0 ? memory_.extent(2) : 0),
      faces_(context, ghosts(1, halo::Reach::faces), Index{sizeof(double)}),
      corners_(context, ghosts(width, halo::Reach::corners), Index{sizeof(double)}),
      kernels_(row_kernels<double>().stencils[layers_[0] > 0 ? 1 : 0][0]) {
  for (std::size_t a = 0; a < layout::axes; ++a) {
    for (Index p = own_.low[a] - (width - 1); p < own_.high[a] + width - 1; ++p) {
      const auto [below, above, inverse_width] = axes[a].weights(p);
      weights_[a].below.push_back(below);
      weights_[a].above.push_back(above);
      weights_[a].both.push_back(below + above);
      weights_[a].inverse_width.push_back(inverse_width);
    }
  }
  for (auto weights : {&Weights::below, &Weights::above, &Weights::both, &Weights::inverse_width}) {
    (weights_[2].*weights).resize(weights_[2].both.size() + slack);
  }
  added_.resize(at(row_length()) + slack);
  nothing_.resize(added_.size());
  for (Index x = 0; x < row_length(); ++x) {
    masks_[0].push_back(static_cast<double>(1 - x % 2));
    masks_[1].push_back(static_cast<double>(x % 2));
  }
}

halo::Filling Level::ghosts(Index width, halo::Reach reach) const {
  halo::Filling filling = halo::Filling::ghosts(partition_, layers_, periodic(axes_), reach);
  filling.width = layers_of(axes_, width);
  return filling;
}

layout::Box Level::reach(Index margin) const {
  layout::Box box = own_.grown(layers_of(axes_, margin));
  for (std::size_t a = 0; a < layout::axes; ++a) {
    if (axes_[a].is_periodic()) continue;
    box.low[a] = std::max(box.low[a], Index{0});
    box.high[a] = std::min(box.high[a], axes_[a].extent());
  }
  return box;
}

void Level::set_domain(Values inside, bool is_given) {
  if (!inside.empty()) exchange(inside, width_ > 1 ? halo::Reach::corners : halo::Reach::faces);
  inside_ = std::move(inside);
  is_outside_given_ = is_given;
}

void Level::set_coefficient(Values k, Values inside, bool is_given) {
  exchange(k, width_ > 1 ? halo::Reach::corners : halo::Reach::faces);
  set_domain(std::move(inside), is_given);
  if (!inside_.empty() && !is_given) {
    std::ranges::transform(k, inside_, k.begin(), [](double a, double b) { return b > 0 ? a : 0; });
  }
  k_ = std::move(k);
  const auto kernel = row_kernels<double>().conductance;
  set_conductances([&](std::size_t, Index offset, Index step, const std::array<const double*, 2>& shares,
                       const std::array<double, 2>& factors, Index count, double* c) {
    kernel(k_->data() + offset - step, k_->data() + offset, shares, factors, count, c);
  });
}

void Level::set_coefficient(const std::array<Values, layout::axes>& k, Values inside, bool is_given) {
  set_domain(std::move(inside), is_given);
  set_conductances([&](std::size_t a, Index offset, Index step, const std::array<const double*, 2>& shares,
                       const std::array<double, 2>& factors, Index count, double* c) {
    for (Index x = 0; x < count; ++x) {
      const double below = shares[0][x] * factors[0], above = shares[1][x] * factors[1];
      const auto is_open = [&](double share, Index p) {
        return share == 0 || inside_.empty() || is_given || inside_[at(p)] > 0;
      };
      const bool flows = below + above > 0 && is_open(below, offset + x - step) && is_open(above, offset + x);
      c[x] = flows ? k[a][at(offset + x)] / (below + above) : 0;
    }
  });
}

// Rows ascend, so that what a kernel writes beyond one is written again.
template <class F>
void Level::set_conductances(const F& f) {
  k_varies_ = true;
  for (std::size_t a = 0; a < layout::axes; ++a) {
    if (!axes_[a].is_used() && a == 0) continue;
    conductances_[a] = zeros();
    if (!axes_[a].is_used() || own_.is_empty()) continue;
    layout::Box faces = this->reach(width_ - 1);
    ++faces.high[a];
    const auto shares_below = [&](Index i) {
      const bool is_inside = i >= 0 && i <= axes_[a].extent();
      return axes_[a].shares_below(is_inside ? i : axes_[a].within(i));
    };
    const Index count = faces.extent(2);
    std::array<std::vector<double>, 2> shares;
    for (Index x = faces.low[2]; x < faces.high[2]; ++x) {
      const auto [below, above] = a == 2 ? shares_below(x) : std::array{1., 1.};
      shares[0].push_back(below);
      shares[1].push_back(above);
    }
    for (std::vector<double>& values : shares) values.resize(at(count) + slack);
    const Index step = a == 0 ? plane_ : a == 1 ? pitch_ : 1;
    for_each_row_of(faces, [&](Index offset, Index i, Index j) {
      const auto [below, above] = a == 2 ? std::array{1., 1.} : shares_below(a == 0 ? i : j);
      f(a, offset, step, std::array<const double*, 2>{shares[0].data(), shares[1].data()}, std::array{below, above},
        count, conductances_[a].data() + offset);
    });
  }
  kernels_ = row_kernels<double>().stencils[layers_[0] > 0 ? 1 : 0][1];
  inverse_diagonal_.clear();
}

const Values& Level::inverse_diagonal() {
  if (!inverse_diagonal_.empty()) return inverse_diagonal_;
  inverse_diagonal_ = zeros();
  const layout::Box box = reach(width_ - 1);
  const std::vector<double> ones(at(box.extent(2)) + slack, 1);
  for_each_row_of(box, [&](Index offset, Index i, Index j) {
    if (k_varies_) {  // what solves the equations where all around is 0 and b is 1
      const RowStencil<double> row = stencil(inverse_diagonal_, ones.data(), {i, j, box.low[2]});
      return kernels_.begin(row, box.extent(2), inverse_diagonal_.data() + offset);
    }
    const double others = weights_[0].both[place(0, i)] + weights_[1].both[place(1, j)];
    for (Index x = 0; x < box.extent(2); ++x) {
      const double diagonal = weights_[2].both[place(2, box.low[2] + x)] + others;
      inverse_diagonal_[at(offset + x)] = diagonal > 0 ? 1 / diagonal : 0;
    }
  });
  return inverse_diagonal_;
}

void Level::weigh_residuals() {
  static_cast<void>(inverse_diagonal());
  weighted_.resize(at(row_length()));
  weighs_ = true;
}

std::span<const double> Level::weighted(const double* row, Index offset) {
  const auto length = at(row_length());
  if (!weighs_) return {row, length};
  std::transform(row, row + length, inverse_diagonal_.begin() + offset, weighted_.begin(), std::multiplies<>());
  return weighted_;
}

bool Level::flows(std::size_t axis, const layout::Point& point) const {
  const Axis& along = axes_[axis];
  if (!along.is_used() || along.distance_below(point[axis]) == 0) return false;
  layout::Point below = point;
  --below[axis];
  const bool has_below = along.is_periodic() || point[axis] > 0;
  const bool has_above = along.is_periodic() || point[axis] < along.extent();
  const bool from = has_below && is_inside(below), to = has_above && is_inside(point);
  return is_outside_given_ ? from || to : (from || !has_below) && (to || !has_above);
}

double Level::conductance(std::size_t axis, const layout::Point& point) const {
  const Axis& along = axes_[axis];
  if (!along.is_used()) return 0;
  if (k_varies_) return conductances_[axis][at(offset_of(point))];
  const double distance = along.distance_below(point[axis]);
  return distance > 0 ? 1 / distance : 0;
}

double Level::largest_of(mpi::Context& context, const Values& values) const {
  double most = 0;
  for_each_row(
      [&](Index offset, Index, Index) { most = std::max(most, largest({values.data() + offset, at(row_length())})); });
  return mpi::all_reduce(context.comm(), most, mpi::Operation::maximum());
}

void Level::exchange(Values& values, halo::Reach reach) {
  (reach == halo::Reach::faces ? faces_ : corners_)(values.data());
}

double Level::stretch(const layout::Point& point) const {
  double product = 1;
  for (std::size_t a = 0; a < layout::axes; ++a) {
    if (axes_[a].is_used()) product *= axes_[a].width(point[a]) / axes_[a].spacing();
  }
  return product;
}

// All points of a row are computed, and those of the other colour multiplied by 0, so that rows are contiguous.
void Level::sweep(double omega, Values& u, const Values& b) {
  const Index length = row_length();
  const double* const inverses = inverse_diagonal().data();
  for (const Index colour : {0, 1}) {
    exchange(u);
    for_each_row([&](Index offset, Index i, Index j) {
      residual(u, b.data() + offset, {i, j, own_.low[2]}, length, added_.data());
      const double* const mask = masks_[at((i + j + own_.low[2] + colour) % 2)].data();
      const double* const inverse = inverses + offset;
      double* const out = u.data() + offset;
#pragma omp simd
      for (Index x = 0; x < length; ++x) out[x] += mask[x] * (omega * inverse[x]) * added_[at(x)];
    });
  }
}

// Rows ascend, so that what is written beyond one is written again.
void Level::residual(const Values& u, const Values& b, Values& r, Index margin) const {
  const layout::Box box = reach(margin);
  for_each_row_of(box, [&](Index offset, Index i, Index j) {
    residual(u, b.data() + offset, {i, j, box.low[2]}, box.extent(2), r.data() + offset);
  });
}

void Level::multiply(std::span<const double> in, Values& u, std::span<double> out) {
  copy_in(in, u);
  exchange(u);
  auto to = out.begin();
  for_each_row([&](Index, Index i, Index j) {
    residual(u, nothing_.data(), {i, j, own_.low[2]}, row_length(), added_.data());
    to = std::transform(added_.begin(), added_.begin() + row_length(), to, std::negate<>());
  });
}

void Level::copy_in(std::span<const double> own, Values& values) const {
  auto from = own.begin();
  for_each_row([&](Index offset, Index, Index) {
    std::copy_n(from, row_length(), values.begin() + offset);
    from += row_length();
  });
}

Values Level::values(std::span<const double> own) const {
  Values values;
  values.reserve(at(memory_.points()) + slack);
  auto from = own.begin();
  for_each_row([&](Index offset, Index, Index) {
    values.resize(at(offset));
    values.insert(values.end(), from, from + row_length());
    from += row_length();
  });
  values.resize(at(memory_.points()) + slack);
  return values;
}

void Level::copy_out(const Values& values, std::span<double> own) const {
  auto to = own.begin();
  for_each_row([&](Index offset, Index, Index) { to = std::copy_n(values.begin() + offset, row_length(), to); });
}

std::vector<double> Level::own_values(const Values& values) const {
  std::vector<double> own(at(own_.points()));
  copy_out(values, own);
  return own;
}

// Axis 1 comes first, as only grids of three dimensions have axis 0.
RowStencil<double> Level::stencil(const Values& u, const double* b, const layout::Point& first) const {
  const std::size_t p = place(0, first[0]), q = place(1, first[1]), x = place(2, first[2]);
  const Index offset = offset_of(first);
  const double* const own = u.data() + offset;
  RowStencil<double> row{};
  row.u = own;
  row.b = b;
  row.left = own - 1;
  row.right = own + 1;
  row.below = {own - pitch_, own - plane_};
  row.above = {own + pitch_, own + plane_};
  if (k_varies_) {
    const Values &c0 = conductances_[0], &c1 = conductances_[1], &c2 = conductances_[2];
    row.c_left = c2.data() + offset;
    row.c_right = row.c_left + 1;
    row.c_below = {c1.data() + offset, c0.empty() ? c1.data() + offset : c0.data() + offset};
    row.c_above = {row.c_below[0] + pitch_, row.c_below[1] + plane_};
    row.inverse_width = weights_[2].inverse_width.data() + x;
    row.inverse_widths = {weights_[1].inverse_width[q], weights_[0].inverse_width[p]};
  } else {
    row.weight_left = weights_[2].below.data() + x;
    row.weight_right = weights_[2].above.data() + x;
    row.weight_below = {weights_[1].below[q], weights_[0].below[p]};
    row.weight_above = {weights_[1].above[q], weights_[0].above[p]};
  }
  return row;
}

void Level::residual(const Values& u, const double* b, const layout::Point& first, Index count, double* r) const {
  kernels_.residual(stencil(u, b, first), count, r);
  if (inside_.empty()) return;
  const double* const inside = inside_.data() + offset_of(first);
  for (Index i = 0; i < count; ++i) r[i] *= inside[i];
}

}  // namespace plait::poisson
