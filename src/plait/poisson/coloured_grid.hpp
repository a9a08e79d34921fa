#pragma once

#include <algorithm>
#include <array>
#include <deque>
#include <memory>
#include <utility>
#include <vector>

#include "plait/base/index.hpp"
#include "plait/base/memory.hpp"
#include "plait/base/rounding.hpp"
#include "plait/base/timeline.hpp"
#include "plait/halo/exchange.hpp"
#include "plait/layout/box.hpp"
#include "plait/mpi/context.hpp"
#include "plait/poisson/level.hpp"
#include "plait/poisson/row_kernels.hpp"

namespace plait::poisson {

/// From `low` to the one before `high`.
struct Range {
  Index low, high;

  [[nodiscard]] bool has(Index i) const noexcept { return low <= i && i < high; }
};

enum Colour : unsigned char { red, black };
[[nodiscard]] constexpr Colour opposite(Colour colour) { return colour == red ? black : red; }

/// The equation of `Level` on one grid as multigrid wants it: points of even and of odd index on the last axis lie
/// apart, so that those of one colour are contiguous, and no rank cuts the last axis. Axis 1 is used in three
/// dimensions only.
///
/// Where other ranks or the opposite side come next there are layers of ghosts, on which ranks compute what their
/// neighbours do: each sweep over a colour makes one layer less of them right. So one exchange serves a whole pass.
template <class C>
class ColouredGrid {
 public:
  static constexpr Index layers = 4;
  /// The values of points 2X and 2X + 1 of a row are at X of its halves 0 and 1.
  using Field = AlignedVector<C>;

  /// \param unit  of lengths
  /// \pre  has_rows(partition, layers)
  ColouredGrid(mpi::Context& context, const Axes& axes, layout::BoxPartition partition, double unit)
      : context_(context),
        axes_(axes),
        partition_(std::move(partition)),
        unit_(unit),
        own_(partition_.box(context.rank())),
        kernels_(row_kernels<C>().stencils[axes[1].is_used() ? 1 : 0][0]) {
    for (std::size_t a = 0; a < 2; ++a) {
      const bool has_more = partition_.parts()[a] > 1 || axes[a].is_periodic();
      ghosts_[a] = !axes[a].is_used() ? 0 : has_more ? layers : 1;
      low_[a] = own_.low[a] - ghosts_[a];
      rows_[a] = own_.is_empty() ? 0 : own_.high[a] - own_.low[a] + 2 * ghosts_[a];
    }
    const Index n = columns(), beyond = axes[2].is_periodic() ? layers : 0;
    first_ = -beyond / 2;
    count_ = (n + beyond + 1) / 2 - first_;
    pitch_ = rounded_up(pad + first_ + count_ + 1, pad) + pad;
    half_size_ = rows_[0] * rows_[1] * pitch_;
    none_.assign(at(pitch_), C{});
    const auto weights_at = [&](std::size_t a, Index i) {
      const auto [below, above, inverse_width] = axes_[a].weights(i, unit);
      return Weights{static_cast<C>(below), static_cast<C>(above), static_cast<C>(below + above),
                     static_cast<C>(inverse_width)};
    };
    for (std::size_t a = 0; a < 2; ++a) {
      for (Index i = low_[a]; i < low_[a] + rows_[a]; ++i) weights_[a].push_back(weights_at(a, i));
    }
    for (Columns* columns : {&left_, &right_, &both_, &inverse_width_}) columns->fill(none_);
    for (Index x = -beyond; x < n + beyond; ++x) {
      const std::size_t half = at(x & 1), place = at((x >> 1) + pad);
      const Weights weights = weights_at(2, x);
      left_[half][place] = weights.below;
      right_[half][place] = weights.above;
      both_[half][place] = weights.both;
      inverse_width_[half][place] = weights.inverse_width;
    }
  }

  [[nodiscard]] const Axes& axes() const noexcept { return axes_; }
  [[nodiscard]] const layout::BoxPartition& partition() const noexcept { return partition_; }
  [[nodiscard]] const layout::Box& own() const noexcept { return own_; }
  [[nodiscard]] Index columns() const noexcept { return axes_[2].extent(); }
  /// X < half_length() has all points of a row.
  [[nodiscard]] Index half_length() const noexcept { return (columns() + 1) / 2; }
  [[nodiscard]] Index pitch() const noexcept { return pitch_; }

  [[nodiscard]] Field zeros() const { return Field(at(2 * half_size_ + 2 * pad)); }
  /// Plane i ← 0, while it is in caches.
  void clear(Field& field, Index i) const {
    for (Index half = 0; half < 2; ++half) std::fill_n(row(field, half, i, low_[1]) - pad, rows_[1] * pitch_, C{});
  }
  /// X = 0 of one half of a row.
  template <class AnyField>
  [[nodiscard]] auto* row(AnyField& field, Index half, Index i, Index j) const noexcept {
    return field.data() + half * half_size_ + ((i - low_[0]) * rows_[1] + j - low_[1]) * pitch_ + pad;
  }
  template <class AnyField>
  [[nodiscard]] auto& value(AnyField& field, const layout::Point& point) const noexcept {
    return row(field, point[2] & 1, point[0], point[1])[point[2] >> 1];
  }
  /// A row's half that has the points of a colour.
  [[nodiscard]] static Index half_of(Colour colour, Index i, Index j) noexcept { return (i + j + colour) & 1; }
  /// The points of this rank on axis 0 or 1, and so many layers of ghosts, where there are any; or fewer there.
  [[nodiscard]] Range range(std::size_t axis, Index margin) const {
    if (own_.is_empty()) return {0, 0};
    if (ghosts_[axis] < layers) return {own_.low[axis], own_.high[axis]};
    const Index n = axes_[axis].extent();
    const bool is_periodic = axes_[axis].is_periodic();
    const Index low = own_.low[axis] - (is_periodic || own_.low[axis] > 0 ? margin : 0);
    const Index high = own_.high[axis] + (is_periodic || own_.high[axis] < n ? margin : 0);
    return is_periodic ? Range{low, high} : Range{std::max<Index>(low, 0), std::min(high, n)};
  }

  /// As `Filling` wants it.
  [[nodiscard]] layout::BoxPartition of_rows() const {
    return {{partition_.splits()[0], partition_.splits()[1], {0, pitch_}}, partition_.ranks()};
  }
  [[nodiscard]] layout::Point ghost_layers(Index most = layers) const {
    const auto least = [&](std::size_t a) { return ghosts_[a] < layers ? std::min(ghosts_[a], most) : most; };
    return {least(0), least(1), 0};
  }
  [[nodiscard]] std::array<bool, layout::axes> periodic_rows() const {
    return {axes_[0].is_periodic(), axes_[1].is_periodic(), false};
  }
  /// Each begins where its memory does, with the pad of its first row.
  [[nodiscard]] std::array<C*, 2> halves(Field& field) const { return {field.data(), field.data() + half_size_}; }

  /// Collective.
  void fill_ghosts(Field& field, Index width = 1) {
    begin_filling(field, width);
    finish_filling();
  }
  /// The same while what is to come from other ranks is on its way: planes that take none of it can be computed.
  void begin_filling(Field& field, Index width) {
    finish_filling();
    wrap(field);  // of rows that others get, too
    if (partition_.number_of_parts() == 1 && !axes_[0].is_periodic() && !axes_[1].is_periodic()) return;
    std::unique_ptr<halo::Exchange>& exchange = exchanges_[at(width)];
    if (!exchange) {
      const halo::Filling filling{
          of_rows(), of_rows(), ghosts_, ghosts_, ghost_layers(width), periodic_rows(), halo::Reach::corners, true};
      exchange = std::make_unique<halo::Exchange>(context_, filling, Index{sizeof(C)}, 2, "grid");
    }
    const auto [even, odd] = halves(field);
    exchange->begin(std::array{halo::Field{even, even}, halo::Field{odd, odd}});
    under_way_ = exchange.get();
  }
  [[nodiscard]] bool is_filling() const noexcept { return under_way_ != nullptr; }
  void progress() { under_way_->progress(); }
  /// Does nothing where none has begun.
  void finish_filling() {
    if (under_way_ != nullptr) std::exchange(under_way_, nullptr)->finish();
  }
  /// Columns beyond periodic sides. Calls f(half, X, half and X of the same point) for each.
  template <class F>
  void for_each_wrapped(const F& f) const {
    const Index n = columns();
    if (!axes_[2].is_periodic()) return;
    for (const Index begin : {-layers, n}) {
      for (Index x = begin; x < begin + layers; ++x) {
        const Index inside = (x % n + n) % n;
        f(x & 1, x >> 1, inside & 1, inside >> 1);
      }
    }
  }
  void wrap(Field& field) const {
    for (Index i = low_[0]; axes_[2].is_periodic() && i < low_[0] + rows_[0]; ++i) {
      for (Index j = low_[1]; j < low_[1] + rows_[1]; ++j) {
        for_each_wrapped([&](Index half, Index x, Index same_half, Index same_x) {
          row(field, half, i, j)[x] = row(field, same_half, i, j)[same_x];
        });
      }
    }
  }

  /// Its ghosts are filled. Collective.
  void set_coefficient(Field k) {
    fill_ghosts(k, layers);
    k_ = std::move(k);
    kernels_ = row_kernels<C>().stencils[axes_[1].is_used() ? 1 : 0][1];
    const auto conductance = row_kernels<C>().conductance;
    const bool is_periodic = axes_[2].is_periodic();
    const auto shares_below = [&](std::size_t a, Index face) {
      return axes_[a].shares_below(axes_[a].is_periodic() ? axes_[a].within(face) : face);
    };
    Columns below, above, ones;
    for (Columns* columns : {&below, &above, &ones}) columns->fill(none_);
    for (Index x = is_periodic ? 1 - layers : 0; x < columns() + (is_periodic ? layers : 1); ++x) {
      const std::size_t half = at(x & 1), place = at((x >> 1) + pad);
      const auto shares = shares_below(2, x);
      below[half][place] = static_cast<C>(shares[0] / unit_);
      above[half][place] = static_cast<C>(shares[1] / unit_);
      if (is_periodic || x < columns()) ones[half][place] = 1;
    }
    for (std::size_t a = 0; a < layout::axes; ++a) {
      if (!axes_[a].is_used()) continue;
      c_[a] = zeros();
      // Faces within memory: from the second row of it on where there are ghosts, and one above the last point.
      std::array<Range, 2> faces{range(0, layers), range(1, layers)};
      if (a < 2) faces[a] = {std::max(faces[a].low, low_[a] + 1), std::min(faces[a].high + 1, low_[a] + rows_[a])};
      const std::array<Index, 3> back{a == 0 ? 1 : 0, a == 1 ? 1 : 0, 0};
      layout::for_each_row({{faces[0].low, faces[1].low, 0}, {faces[0].high, faces[1].high, 1}}, [&](const auto& face) {
        const auto [i, j, none] = face;
        std::array<C, 2> factors{1, 1};
        if (a < 2) {
          const auto shares = shares_below(a, face[a]);
          factors = {static_cast<C>(shares[0] / unit_), static_cast<C>(shares[1] / unit_)};
        }
        for (Index half = 0; half < 2; ++half) {
          const C* const from =
              a < 2 ? row(k_, half, i - back[0], j - back[1]) : row(k_, 1 - half, i, j) - (half == 0 ? 1 : 0);
          const auto of_columns = [&](const Columns& columns) { return columns[at(half)].data() + pad + first_; };
          conductance(from + first_, row(k_, half, i, j) + first_,
                      {of_columns(a < 2 ? ones : below), of_columns(a < 2 ? ones : above)}, factors,
                      count_ + (a < 2 ? 0 : 1), row(c_[a], half, i, j) + first_);
        }
      });
    }
  }
  [[nodiscard]] const Field& coefficient() const noexcept { return k_; }

  /// Solves the equations of one colour in plane i.
  void relax(Colour colour, Index i, Index margin, Field& u, const Field& b, bool is_zero = false) {
    const auto kernel = is_zero ? kernels_.begin : kernels_.relax;
    for_each_run(colour, i, range(1, margin), u, b, [&](RowStencil<C>& run, Index half, Index j) {
      run.advance(first_);
      for (auto* pointer : {&run.weight_left, &run.weight_right, &run.inverse, &run.inverse_width}) {
        *pointer += *pointer != nullptr ? first_ : 0;
      }
      kernel(run, count_, row(u, half, i, j) + first_);
    });
  }
  /// b - A u at the points of one colour of plane i, to rows a pitch apart from that of `range(1, 1).low` on.
  void residual(Colour colour, Index i, const Field& u, const Field& b, C* even, C* odd) {
    const Range rows = range(1, 1);
    for_each_run(colour, i, rows, u, b, [&](const RowStencil<C>& run, Index half, Index j) {
      kernels_.residual(run, half_length(), (half == 0 ? even : odd) + (j - rows.low) * pitch_);
    });
  }
  /// The same at all points.
  void residual(const Field& u, const Field& b, Field& r) {
    const Range planes = range(0, 0);
    const Index first = range(1, 1).low;
    for (Index i = planes.low; i < planes.high; ++i) {
      for (const Colour colour : {red, black}) residual(colour, i, u, b, row(r, 0, i, first), row(r, 1, i, first));
    }
  }

  /// Calls each step for planes, s planes behind the first one: step s for this rank's, with a margin of `first` - s.
  /// Where ghosts are on their way to `sender`, those planes come first that take nothing from there, of which step 0
  /// leaves out so many as are `taken`.
  template <class... Steps>
  void pass(TimedComputation& timed, ColouredGrid& sender, Index first, Index taken, const Steps&... steps) const {
    const auto all = [&](Index s) { return range(0, first - s); };
    const auto inner = [&](Index s) { return range(0, -taken - s); };
    const Range least = inner(sizeof...(Steps) - 1), rows = range(1, 0), with_ghosts = range(1, 1);
    const auto take = [&](const auto& planes) { sender.in_turn(timed, planes, steps...); };
    if (least.high - least.low < layers || rows.low != with_ghosts.low || rows.high != with_ghosts.high) {
      sender.finish_filling();
    }
    if (!sender.is_filling()) return take(all);
    take(inner);
    sender.finish_filling();
    take([&](Index s) { return Range{all(s).low, inner(s).low}; });
    take([&](Index s) { return Range{inner(s).high, all(s).high}; });
  }

 private:
  static constexpr Index pad = most_lanes;

  // Looks at messages now and then.
  template <class Planes, class... Steps>
  void in_turn(TimedComputation& timed, const Planes& planes, const Steps&... steps) {
    constexpr Index points_between_looks = 32768;
    std::array<Range, sizeof...(Steps)> ranges;
    Index low = planes(0).low, high = planes(0).high;
    for (Index s = 0; s < std::ssize(ranges); ++s) {
      ranges[at(s)] = planes(s);
      low = std::min(low, planes(s).low + s);
      high = std::max(high, planes(s).high + s);
    }
    const Index at_a_time = std::max<Index>(points_between_looks / std::max<Index>(columns(), 1), 1);
    for (Index first = low; first < high; first += at_a_time) {
      if (is_filling()) progress();
      timed([&] {
        for (Index w = first; w < std::min(first + at_a_time, high); ++w) {
          Index s = 0;
          const auto take = [&](const auto& step) {
            if (ranges[at(s)].has(w - s)) step(w - s);
            ++s;
          };
          (take(steps), ...);
        }
      });
    }
  }

  // What u is multiplied by where k = 1, and 1 / width.
  struct Weights {
    C below, above, both, inverse_width;
    friend bool operator==(const Weights&, const Weights&) = default;
  };
  // By half and X, from -pad on; 0 where there are no points.
  using Columns = std::array<std::vector<C>, 2>;
  struct InverseRow {
    C others;
    Columns inverse;
  };

  [[nodiscard]] const C* inverse_row(C others, Index half) {
    for (const InverseRow& row : inverse_rows_) {
      if (row.others == others) return row.inverse[at(half)].data() + pad;
    }
    InverseRow& row = inverse_rows_.emplace_back(InverseRow{others, both_});
    for (std::size_t h = 0; h < 2; ++h) {
      for (std::size_t x = 0; x < row.inverse[h].size(); ++x) {
        const C diagonal = both_[h][x] + others;
        const bool is_point = inverse_width_[h][x] != 0 && diagonal > 0;
        row.inverse[h][x] = is_point ? 1 / diagonal : C{};
      }
    }
    return row.inverse[at(half)].data() + pad;
  }

  [[nodiscard]] RowStencil<C> stencil(Colour colour, Index i, Index j, const Field& u, const Field& b) {
    const Index half = half_of(colour, i, j), shift = half == 0 ? -1 : 0;
    const std::size_t h = at(half);
    const std::array weights{&weights_[0][at(i - low_[0])], &weights_[1][at(j - low_[1])]};
    const C* const none = none_.data() + pad;
    // Of a field, across axis 0 or 1, above or below.
    const auto next = [&](const Field& field, std::size_t a, Index by) -> const C* {
      return !axes_[a].is_used() ? none : a == 0 ? row(field, half, i + by, j) : row(field, half, i, j + by);
    };
    RowStencil<C> at_row{};
    at_row.u = row(u, half, i, j);
    at_row.b = row(b, half, i, j);
    at_row.left = row(u, 1 - half, i, j) + shift;
    at_row.right = at_row.left + 1;
    at_row.below = {next(u, 0, -1), next(u, 1, -1)};
    at_row.above = {next(u, 0, 1), next(u, 1, 1)};
    if (k_.size() > 0) {
      at_row.c_left = row(c_[2], half, i, j);
      at_row.c_right = row(c_[2], 1 - half, i, j) + shift + 1;
      at_row.inverse_width = inverse_width_[h].data() + pad;
      at_row.c_below = {next(c_[0], 0, 0), next(c_[1], 1, 0)};
      at_row.c_above = {next(c_[0], 0, 1), next(c_[1], 1, 1)};
      at_row.inverse_widths = {weights[0]->inverse_width, weights[1]->inverse_width};
    } else {
      at_row.weight_left = left_[h].data() + pad;
      at_row.weight_right = right_[h].data() + pad;
      at_row.weight_below = {weights[0]->below, weights[1]->below};
      at_row.weight_above = {weights[0]->above, weights[1]->above};
      at_row.inverse = inverse_row(weights[0]->both + weights[1]->both, half);
    }
    return at_row;
  }

  // Every other row has its points in the same half; where k = 1, runs of these with the same weights are computed at
  // once.
  template <class F>
  void for_each_run(Colour colour, Index i, const Range& rows, const Field& u, const Field& b, const F& f) {
    const auto weights = [&](Index j) { return weights_[1][at(j - low_[1])]; };
    for (Index begin = rows.low; begin < std::min(rows.low + 2, rows.high); ++begin) {
      for (Index j = begin; j < rows.high;) {
        RowStencil<C> run = stencil(colour, i, j, u, b);
        run.step = 2 * pitch_;
        const Index half = half_of(colour, i, j);
        // The next plane's row is in the other half.
        run.ahead = axes_[1].is_used() ? run.step : pitch_ + (half == 0 ? half_size_ : -half_size_);
        const Index first = j;
        for (j += 2; j < rows.high && weights(first) == weights(j); j += 2) ++run.rows;
        f(run, half, first);
      }
    }
  }

  mpi::Context& context_;
  Axes axes_;
  layout::BoxPartition partition_;
  double unit_;
  layout::Box own_;
  layout::Point ghosts_{};  // layers of memory on axes 0 and 1
  layout::Point low_{}, rows_{};
  Index pitch_ = 0, half_size_ = 0, first_ = 0, count_ = 0;
  std::array<std::vector<Weights>, 2> weights_;  // by row from low_ on
  Columns left_, right_, both_, inverse_width_;
  std::deque<InverseRow> inverse_rows_;
  std::vector<C> none_;
  Field k_;
  std::array<Field, layout::axes> c_;
  StencilKernels<C> kernels_;
  std::array<std::unique_ptr<halo::Exchange>, layers + 1> exchanges_;
  halo::Exchange* under_way_ = nullptr;
};

}  // namespace plait::poisson
