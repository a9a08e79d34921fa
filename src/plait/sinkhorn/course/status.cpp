#include "plait/sinkhorn/course/status.hpp"

namespace plait::sinkhorn {

std::string_view name(Status status) noexcept {
  switch (status) {
    case Status::converged: return "converged";
    case Status::iteration_limit: return "iteration limit";
    case Status::no_support: return "no support";
    case Status::infeasible_marginals: return "infeasible marginals";
    case Status::numerical_limit: return "numerical limit";
  }
  return "";
}

}  // namespace plait::sinkhorn
