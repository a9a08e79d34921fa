#include "cli/kmeans/clusters.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <span>
#include <utility>

#include <fmt/format.h>

#include "plait/base/random.hpp"
#include "plait/mpi/collectives.hpp"

#include "cli/host/text.hpp"
#include "cli/pictures/plane.hpp"

namespace plait::cli {

template <class T>
ClusterSample sample_of(const kmeans::Points<T>& points, const kmeans::Solver<T>& solver) {
  constexpr Index most = 2000;
  const Index count = std::min(most, points.count());
  const Index d = points.dimension();
  const auto centres = solver.centres();
  std::vector<Index> rows;
  for (Index i = 0; i < count; ++i) {
    const double place = (static_cast<double>(i) + random_uniform(1, static_cast<std::uint64_t>(i))) /
                         static_cast<double>(count) * static_cast<double>(points.count());
    rows.push_back(std::min(points.count() - 1, static_cast<Index>(place)));
  }
  const std::vector<T> numbers = points.rows(rows);
  ClusterSample sample{d, {numbers.begin(), numbers.end()}, {}, std::vector<Index>(rows.size())};
  sample.centres.assign(centres.data, centres.data + centres.rows * d);
  for (std::size_t s = 0; s < rows.size(); ++s) {
    const Index i = rows[s] - points.first();
    if (i >= 0 && i < points.own().rows) sample.labels[s] = solver.assignment().labels()[at(i)];
  }
  mpi::all_reduce(points.context().comm(), std::span<Index>(sample.labels), mpi::Operation::sum());
  const double room = 8 * static_cast<double>(d + 4) * double{std::numeric_limits<T>::epsilon()};
  for (Index s = 0; s < count; ++s) {
    const auto distance = [&](Index j) {
      double sum = 0;
      for (Index c = 0; c < d; ++c) sum += std::pow(sample.points[at(s * d + c)] - sample.centres[at(j * d + c)], 2);
      return sum;
    };
    const double nearer = distance(sample.labels[at(s)]) * (1 - room);
    for (Index j = 0; j < centres.rows; ++j) {
      if (distance(j) >= nearer) continue;
      ++sample.wrong;
      break;
    }
  }
  return sample;
}

template ClusterSample sample_of(const kmeans::Points<float>&, const kmeans::Solver<float>&);
template ClusterSample sample_of(const kmeans::Points<double>&, const kmeans::Solver<double>&);

std::string clusters_figure(const ClusterSample& sample, layout::Shape all) {
  constexpr std::array marks{"plait", "gate", "network", "combine", "node", "self", "peer", "level"};
  const auto d = at(sample.coordinates);
  const Plane plane(sample.points, d);
  std::vector<std::pair<double, double>> places;
  for (const auto& numbers : {sample.points, sample.centres}) {
    for (std::size_t p = 0; p + d <= numbers.size(); p += d) {
      places.push_back(plane.place(std::span(numbers).subspan(p, d)));
    }
  }
  const auto [left, right] = std::ranges::minmax(places, {}, [](const auto& place) { return place.first; });
  const auto [low, high] = std::ranges::minmax(places, {}, [](const auto& place) { return place.second; });
  const bool is_plane = d <= 2;
  const auto [across, up] = plane_axes(d, {left.first, right.first, low.second, high.second});
  AxisPlot plot(across, d == 1 ? PlotAxis{"", Scale::unmarked, -1, 1} : up, d == 1 ? 120 : plane_height,
                "Points in the colours of their clusters, and the centres of these");
  const auto& labels = sample.labels;
  for (std::size_t p = 0; p < places.size(); ++p) {
    const bool is_centre = p >= labels.size();
    const Index cluster = is_centre ? static_cast<Index>(p - labels.size()) : labels[p];
    plot.point(is_centre ? "ink" : marks[at(cluster) % marks.size()], {places[p].first, places[p].second},
               is_centre ? 4 : 2, fmt::format("{} {}", is_centre ? "centre of cluster" : "cluster", cluster));
  }
  return fmt::format(
      "<h2>Clusters</h2>\n{}<p class=\"soft\">{} of {}{}; dark: the centres. Colours come again after {} "
      "clusters.</p>\n",
      plot.svg(), labels.size(), counted(all.rows, "point"),
      is_plane ? "" : fmt::format(", along the two axes that have {:.0f} % of their variance", 100 * plane.shown()),
      marks.size());
}

}  // namespace plait::cli
