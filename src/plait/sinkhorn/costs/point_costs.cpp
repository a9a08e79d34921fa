#include "plait/sinkhorn/costs/point_costs.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>

#include "plait/base/memory.hpp"
#include "plait/simd/sweep/distance_kernels.hpp"
#include "plait/simd/sweep/exponential_kernels.hpp"
#include "plait/simd/sweep/point_exponentials.hpp"

namespace plait::sinkhorn {

namespace {

constexpr double log2_e = 0x1.71547652b82fep+0;

/// Columns of which a sweep's row adds exponentials up before those of others: where points have many coordinates so
/// few that these stay in a cache for all rows of a group.
template <class A>
Index columns_of_tile(Index coordinates) {
  constexpr Index most = 8192;
  constexpr Index bytes = Index{256} << 10;
  const Index panels = bytes / (coordinates * simd::panel_points * Index{sizeof(A)});
  return std::clamp(panels * simd::panel_points, simd::panel_points, most);
}
/// Columns of which exponents are found at once for rows that are in no sweep.
constexpr Index columns_of_heights = 2048;
static_assert(columns_of_heights % simd::panel_points == 0);

/// Where coordinate k of point i lies among points that are side by side in packs of so many.
constexpr Index place_of(Index i, Index k, Index coordinates, Index pack) {
  return i / pack * pack * coordinates + k * pack + i % pack;
}

/// The middle of the box of some points.
template <class A>
std::vector<double> middle_of(matrix_view<const A> points) {
  std::vector<double> middle;
  for (Index k = 0; k < points.columns(); ++k) {
    double lowest = std::numeric_limits<double>::infinity();
    double highest = -lowest;
    for (Index i = 0; i < points.rows(); ++i) {
      const auto at = static_cast<double>(points.data()[i * points.leading_dimension() + k]);
      lowest = std::min(lowest, at);
      highest = std::max(highest, at);
    }
    middle.push_back(points.rows() > 0 ? lowest + (highest - lowest) / 2 : 0);
  }
  return middle;
}

/// Calls visit(i, k, difference) for all coordinates of points less those of the middle, then done(i, |difference|²).
template <class A, class Visit, class Done>
void for_each_difference(matrix_view<const A> points, const std::vector<double>& middle, const Visit& visit,
                         const Done& done) {
  for (Index i = 0; i < points.rows(); ++i) {
    double square = 0;
    for (Index k = 0; k < points.columns(); ++k) {
      const double t =
          static_cast<double>(points.data()[i * points.leading_dimension() + k]) - middle[static_cast<std::size_t>(k)];
      visit(i, k, t);
      square += t * t;
    }
    done(i, square);
  }
}

/// Takes the place of points by others on a sphere, whose squared distances are those of the cosine: |a - b|² = 2 - 2
/// a·b of directions, which loses nothing where they are near.
template <class A>
void project(matrix_view<const A>& points, Array<A>& onto) {
  const Index coordinates = points.columns();
  onto = Array<A>(points.rows() * coordinates);
  for (Index i = 0; i < points.rows(); ++i) {
    const A* const point = points.data() + i * points.leading_dimension();
    double largest = 0;
    for (Index k = 0; k < coordinates; ++k) largest = std::max(largest, std::abs(static_cast<double>(point[k])));
    double sum = 0;  // of squares that can't leave the range
    for (Index k = 0; k < coordinates; ++k) {
      const double share = static_cast<double>(point[k]) / largest;
      sum += share * share;
    }
    const double length = std::sqrt(2 * sum);
    for (Index k = 0; k < coordinates; ++k) {
      onto[i * coordinates + k] = static_cast<A>(static_cast<double>(point[k]) / largest / length);
    }
  }
  points = {onto.data(), points.rows(), coordinates, std::max(Index{1}, coordinates), StorageOrder::row_major};
}

/// Costs between points, made for a few rows and columns at a time, which stay in the first-level cache. Exponentials
/// of squared distances are made of products, which takes half of the operations, where what cancels in
///
///     |x - y|² = |x - m|² - 2 (x - m) (y - m) + |y - m|²,  m the middle of y's box
///
/// is as small beside the precision as what potentials are rounded to.
template <class A>
class PointCosts final : public CostOperand<A> {
 public:
  PointCosts(const PointClouds<A>& clouds, int threads)
      : CostOperand<A>(clouds.x.rows(), clouds.y.rows(), threads),
        clouds_(clouds),
        norm_(clouds.norm()),
        others_(simd::panels_of(clouds.y.rows()) * simd::panel_points * clouds.y.columns()) {
    if (clouds_.metric == Metric::cosine) {
      project(clouds_.x, directions_x_);
      project(clouds_.y, directions_y_);
    }
    std::fill_n(others_.data(), others_.size(), A{0});
    const Index coordinates = clouds.y.columns();
    for (Index j = 0; j < clouds.y.rows(); ++j) {
      const A* point = clouds_.y.data() + j * clouds_.y.leading_dimension();
      for (Index k = 0; k < coordinates; ++k) others_[place_of(j, k, coordinates, simd::panel_points)] = point[k];
    }
  }

  void set_epsilon(double epsilon, std::size_t problems, std::size_t in_common) override {
    const Index coordinates = clouds_.y.columns();
    const double unit = log2_e / epsilon;
    std::vector<double> middle;
    has_products_ = norm_.p == 2 && norm_.power == 2 && coordinates > 0;
    if (has_products_) {
      constexpr double most = std::is_same_v<A, double> ? 1e6 : 2e3;  // squares, in units of epsilon
      double largest_x = 0;
      double largest_y = 0;
      middle = middle_of(clouds_.y);
      const auto nothing = [](Index, Index, double) {};
      for_each_difference(clouds_.x, middle, nothing, [&](Index, double s) { largest_x = std::max(largest_x, s); });
      for_each_difference(clouds_.y, middle, nothing, [&](Index, double s) { largest_y = std::max(largest_y, s); });
      has_products_ = (largest_x + largest_y) / epsilon <= most;
    }
    constexpr Index few = 8;  // coordinates, which come from beyond the second-level cache once for each block of rows
    const Index rows = has_products_ && coordinates <= few ? simd::rows_of_points : simd::most_rows_at_a_time;
    this->set_factor(epsilon);
    this->make_room(problems, in_common, {rows, rows});
    if (!has_products_) return;
    heights_.resize(problems);
    for (auto& heights : heights_) heights.resize(static_cast<std::size_t>(this->columns()));
    const Index groups = (this->rows() + simd::group_points - 1) / simd::group_points;
    if (groups_.size() == 0) groups_ = Array<A>(groups * simd::group_points * coordinates);
    std::fill_n(groups_.data(), groups_.size(), A{0});
    of_rows_.resize(static_cast<std::size_t>(this->rows()));
    for_each_difference(
        clouds_.x, middle,
        [&](Index i, Index k, double t) {
          groups_[place_of(i, k, coordinates, simd::group_points)] = static_cast<A>(2 * unit * t);
        },
        [&](Index i, double square) { of_rows_[static_cast<std::size_t>(i)] = static_cast<A>(unit * square); });
    if (panels_.size() == 0) panels_ = Array<A>(others_.size());
    std::fill_n(panels_.data(), panels_.size(), A{0});
    of_columns_.resize(static_cast<std::size_t>(this->columns()));
    for_each_difference(
        clouds_.y, middle,
        [&](Index j, Index k, double t) {
          panels_[place_of(j, k, coordinates, simd::panel_points)] = static_cast<A>(t);
        },
        [&](Index j, double square) { of_columns_[static_cast<std::size_t>(j)] = static_cast<A>(unit * square); });
  }

  [[nodiscard]] double cost_of(Index i, std::span<const A> plan) const override {
    double cost = 0;
    for_each_tile(i, 1, [&](const simd::RowBlock<const A>& costs, Index j) {
      for (Index k = 0; k < costs.columns; ++k) {
        cost += static_cast<double>(costs.data[k]) * static_cast<double>(plan[static_cast<std::size_t>(j + k)]);
      }
    });
    return cost;
  }

 private:
  using Base = CostOperand<A>;

  void exponentials(Index first, A factor, const A* f, const A* g, simd::RowBlock<A> e, A* sums) const override {
    std::fill_n(sums, e.rows, A{0});
    if (has_products_) {
      std::array<A, columns_of_heights> heights;
      for (Index j = 0; j < e.columns; j += columns_of_heights) {
        const Index columns = std::min(columns_of_heights, e.columns - j);
        find_heights(j, columns, g + j, heights.data());
        for (Index i = 0, count = 0; i < e.rows; i += count) {
          count = std::min(e.rows - i, simd::group_points - (first + i) % simd::group_points);
          products({}, first + i, f + i, j, heights.data(),
                   {e.data + i * e.leading_dimension + j, count, columns, e.leading_dimension}, sums + i);
        }
      }
      return;
    }
    for_each_tile(first, e.rows, [&](const simd::RowBlock<const A>& costs, Index j) {
      std::array<A, simd::most_rows_at_a_time> of_tile;
      exponential_.exponential_sums(costs, factor, f, g + j, {e.data + j, e.rows, costs.columns, e.leading_dimension},
                                    of_tile.data());
      for (Index i = 0; i < e.rows; ++i) sums[i] += of_tile[static_cast<std::size_t>(i)];
    });
  }

  [[nodiscard]] const A* prepared(std::size_t k, std::span<const A> g) override {
    if (!has_products_) return g.data();
    find_heights(0, this->columns(), g.data(), heights_[k].data());
    return heights_[k].data();
  }

  void exponentials_after(const typename Base::Pending& before, Index first, A factor, const A* f, const A* g,
                          simd::RowBlock<A> e, A* sums) const override {
    if (!has_products_) return Base::exponentials_after(before, first, factor, f, g, e, sums);
    const bool takes_place = before.e.rows == e.rows;
    if (!takes_place) this->add(before);
    // A block's numbers may outgrow the second-level cache: the next block goes the other way, and finds the last ones
    // there.
    const Index width = columns_of_tile<A>(clouds_.y.columns());
    const Index tiles = (e.columns + width - 1) / width;
    const bool goes_back = first / e.rows % 2 == 1;
    std::fill_n(sums, e.rows, A{0});
    for (Index n = 0; n < tiles; ++n) {
      const Index j = (goes_back ? tiles - 1 - n : n) * width;
      const simd::RowBlock<A> tile{e.data + j, e.rows, std::min(width, e.columns - j), e.leading_dimension};
      const auto added =
          takes_place ? simd::SumsBefore<A>{before.weights.data(), before.sums.data() + j} : simd::SumsBefore<A>{};
      products(added, first, f, j, g + j, tile, sums);
    }
  }

  /// What exponents have of `count` columns from the j-th on.
  void find_heights(Index j, Index count, const A* g, A* heights) const {
    const A* const squares = of_columns_.data() + j;
    for (Index n = 0; n < count; ++n) heights[n] = static_cast<A>(log2_e) * g[n] - squares[n];
  }

  /// Exponentials by products, of rows of one group of points and columns from the j-th on; their sums are added to
  /// those of the rows.
  void products(const simd::SumsBefore<A>& before, Index first, const A* f, Index j, const A* heights,
                simd::RowBlock<A> e, A* sums) const {
    const Index coordinates = clouds_.y.columns();
    std::array<A, simd::group_points> of_rows{};
    std::array<A, simd::group_points> more;
    for (Index i = 0; i < e.rows; ++i) {
      of_rows[static_cast<std::size_t>(i)] =
          static_cast<A>(log2_e) * f[i] - of_rows_[static_cast<std::size_t>(first + i)];
    }
    of_points_({groups_.data() + place_of(first, 0, coordinates, simd::group_points), of_rows.data(), coordinates,
                panels_.data() + j * coordinates, heights},
               e, before, more.data());
    for (Index i = 0; i < e.rows; ++i) sums[i] += more[static_cast<std::size_t>(i)];
  }

  [[nodiscard]] A maximum(Index i, A factor, const A* g) const override {
    A maximum = -std::numeric_limits<A>::infinity();
    for_each_tile(i, 1, [&](const simd::RowBlock<const A>& costs, Index j) {
      A of_tile{};
      exponential_.row_maxima(costs, factor, g + j, &of_tile);
      maximum = std::max(maximum, of_tile);
    });
    return maximum;
  }

  [[nodiscard]] double cost(Index i, std::size_t j) const override {
    const A* x = clouds_.x.data() + i * clouds_.x.leading_dimension();
    const A* y = clouds_.y.data() + static_cast<Index>(j) * clouds_.y.leading_dimension();
    return norm_.cost(clouds_.x.columns(),
                      [&](Index k) { return static_cast<double>(x[k]) - static_cast<double>(y[k]); });
  }

  /// Fills a tile; returns to which power its numbers are costs.
  [[nodiscard]] double distances(const simd::RowBlock<const A>& points, const A* others, Index panels,
                                 const simd::RowBlock<A>& tile) const {
    const auto& [p, power] = norm_;
    if (p == 2 && power == 1) return distances_.euclidean(points, others, panels, tile), 1;
    if (p == 2) return distances_.squared(points, others, panels, tile), power / 2;
    if (p == 1) {
      distances_.cityblock(points, others, panels, tile);
    } else if (std::isinf(p)) {
      distances_.chebyshev(points, others, panels, tile);
    } else {
      distances_.minkowski(points, others, panels, tile, static_cast<A>(p));
    }
    return power;
  }

  /// Calls f(costs, j) for tiles of the costs of rows [first, first + count), whose first column is j.
  template <class F>
  void for_each_tile(Index first, Index count, const F& f) const {
    constexpr Index elements = 2048;
    std::array<A, elements> memory;
    const Index coordinates = clouds_.x.columns();
    const simd::RowBlock<const A> points{clouds_.x.data() + first * clouds_.x.leading_dimension(), count, coordinates,
                                         clouds_.x.leading_dimension()};
    const Index width = elements / count / simd::panel_points * simd::panel_points;
    for (Index j = 0; j < this->columns(); j += width) {
      const Index columns = std::min(width, this->columns() - j);
      const Index panels = simd::panels_of(columns);
      const A* others = others_.data() + j * coordinates;
      const simd::RowBlock<A> tile{memory.data(), count, width, width};
      const double power = distances(points, others, panels, tile);
      if (power != 1) distances_.raise(memory.data(), count * width, static_cast<A>(power));
      f(simd::RowBlock<const A>{memory.data(), count, columns, width}, j);
    }
  }

  PointClouds<A> clouds_;
  Norm norm_;
  Array<A> directions_x_, directions_y_;   // of the cosine's points
  Array<A> others_;                        // y in panels
  bool has_products_ = false;              // for the epsilon that was set last
  Array<A> groups_;                        // of these, x - m in groups, times 2 log2(e) / epsilon
  Array<A> panels_;                        // y - m in panels
  std::vector<A> of_rows_, of_columns_;    // their squares, times log2(e) / epsilon
  std::vector<AlignedVector<A>> heights_;  // of the columns, in a sweep; of each problem
  simd::PointExponentials<A>* of_points_ = simd::point_exponentials<A>();
  simd::DistanceKernels<A> distances_ = simd::distance_kernels<A>();
  simd::ExponentialKernels<A, A> exponential_ = simd::exponential_kernels<A, A>();
};

}  // namespace

std::string_view name(Metric metric) noexcept {
  switch (metric) {
    case Metric::squared_euclidean: return "sqeuclidean";
    case Metric::euclidean: return "euclidean";
    case Metric::cityblock: return "cityblock";
    case Metric::chebyshev: return "chebyshev";
    case Metric::minkowski: return "minkowski";
    case Metric::cosine: return "cosine";
  }
  return "";
}

Norm norm_of(Metric metric, double p, double power) noexcept {
  switch (metric) {
    case Metric::squared_euclidean: return {2, 2 * power};
    case Metric::euclidean: return {2, power};
    case Metric::cityblock: return {1, power};
    case Metric::chebyshev: return {std::numeric_limits<double>::infinity(), power};
    case Metric::minkowski: return {p, power};
    case Metric::cosine: break;
  }
  return {2, 2 * power};  // of directions
}

template <class A>
std::unique_ptr<CostOperand<A>> point_costs(const PointClouds<A>& clouds, int threads) {
  if (clouds.grid) return grid_costs<A>(clouds, threads);
  return std::make_unique<PointCosts<A>>(clouds, threads);
}

template std::unique_ptr<CostOperand<double>> point_costs(const PointClouds<double>&, int);
template std::unique_ptr<CostOperand<float>> point_costs(const PointClouds<float>&, int);

}  // namespace plait::sinkhorn
