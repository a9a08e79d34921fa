#pragma once

#include <string>
#include <type_traits>

#include "plait/mpi/agreed.hpp"
#include "plait/mpi/collectives.hpp"
#include "plait/mpi/context.hpp"

namespace plait::io {

/// Runs `f` on rank 0 and gives every rank what it returned; if it threw, every rank throws. Collective over `context`.
template <class F>
auto told_by_rank_zero(mpi::Context& context, F f) {
  using Result = std::invoke_result_t<F>;
  static_assert(std::is_trivially_copyable_v<Result>, "the result is sent as its bytes");
  auto result = mpi::agreed(context, [&] { return context.rank() == 0 ? f() : Result{}; });
  mpi::broadcast(context.comm(), std::span<Result>(&result, 1), 0);
  return result;
}

/// The text of rank 0 on every rank. Collective over `context`.
[[nodiscard]] std::string text_of_rank_zero(mpi::Context& context, const std::string& text);

}  // namespace plait::io
