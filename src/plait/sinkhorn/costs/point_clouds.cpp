#include "plait/sinkhorn/costs/point_clouds.hpp"

namespace plait::sinkhorn {

std::string_view name(Metric metric) noexcept {
  switch (metric) {
    case Metric::squared_euclidean: return "sqeuclidean";
    case Metric::euclidean: return "euclidean";
    case Metric::cityblock: return "cityblock";
    case Metric::minkowski: return "minkowski";
    case Metric::cosine: return "cosine";
  }
  return "";
}

}  // namespace plait::sinkhorn
