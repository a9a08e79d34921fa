#include "plait/sinkhorn/marginals/first_failure.hpp"

#include <fmt/format.h>

#include "plait/base/error.hpp"
#include "plait/base/index.hpp"
#include "plait/mpi/agreed.hpp"
#include "plait/mpi/collectives.hpp"

namespace plait::sinkhorn {

void FirstFailure::note(mpi::Context& context, std::size_t own, const std::exception_ptr& failure) {
  context.expect_all_ranks();
  const auto lowest =
      static_cast<std::size_t>(mpi::all_reduce(context.comm(), static_cast<Index>(own), mpi::Operation::minimum()));
  if (lowest == first_) return;
  first_ = lowest;
  failure_ = own == lowest ? failure : nullptr;
}

void FirstFailure::expect_none(mpi::Context& context) const {
  if (first_ < problems_) mpi::agree(context, failure_);
}

void FirstFailure::expect_none_of_several(mpi::Context& context) const {
  try {
    expect_none(context);
  } catch (const ArgumentError& error) {  // the same on all ranks
    throw ArgumentError(fmt::format("marginals {}: {}", first_, error.what()));
  }
}

}  // namespace plait::sinkhorn
