#include "plait/sinkhorn/sweep/update.hpp"

#include <fmt/format.h>

#include "plait/base/error.hpp"

namespace plait::sinkhorn {

void name_arguments(const Update& update, mpi::Alike& arguments) {
  arguments.add("exponent of the rows", update.row_exponent);
  arguments.add("exponent of the columns", update.column_exponent);
}

void expect_valid(const Update& update) {
  for (const auto& [exponent, of] : {std::pair{update.row_exponent, "rows"}, {update.column_exponent, "columns"}}) {
    if (exponent > 0 && exponent <= 1) continue;
    throw ArgumentError(fmt::format("the exponent of the {} is {}, expected a number in (0, 1]", of, exponent));
  }
}

}  // namespace plait::sinkhorn
