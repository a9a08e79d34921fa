#include "plait/sinkhorn/costs/point_clouds.hpp"

namespace plait::sinkhorn {

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

}  // namespace plait::sinkhorn
