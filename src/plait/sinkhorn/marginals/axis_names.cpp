#include "plait/sinkhorn/marginals/axis_names.hpp"

#include <utility>

#include <fmt/format.h>

namespace plait::sinkhorn {

std::string AxisNames::shape(Index rows, Index columns) const {
  if (are_exchanged_) std::swap(rows, columns);
  return fmt::format("{} x {}", rows, columns);
}

std::string AxisNames::place(Index row, Index column) const {
  if (are_exchanged_) std::swap(row, column);
  return fmt::format("row {}, column {}", row, column);
}

}  // namespace plait::sinkhorn
