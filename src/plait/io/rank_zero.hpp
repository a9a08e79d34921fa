#pragma once

#include <exception>
#include <span>
#include <string>
#include <type_traits>
#include <utility>

#include "plait/mpi/agreed.hpp"
#include "plait/mpi/collectives.hpp"
#include "plait/mpi/context.hpp"

namespace plait::io {

/// Lets all ranks throw as `mpi::agree` does, after what rank 0 alone did to a file: its text is about that, and names
/// no rank, but for lack of memory. `failure` is null on the other ranks. Collective over `context`.
void agree_with_rank_zero(mpi::Context& context, const std::exception_ptr& failure);

/// Runs `f` on rank 0; if it threw, every rank throws (see `agree_with_rank_zero`). Collective over `context`.
template <class F>
void on_rank_zero(mpi::Context& context, F&& f) {
  std::exception_ptr failure;
  try {
    if (context.rank() == 0) std::forward<F>(f)();
  } catch (...) {
    failure = std::current_exception();
  }
  agree_with_rank_zero(context, failure);
}

/// The same, and gives every rank what it returned.
template <class F>
auto told_by_rank_zero(mpi::Context& context, F f) {
  using Result = std::invoke_result_t<F>;
  static_assert(std::is_trivially_copyable_v<Result>, "the result is sent as its bytes");
  Result result{};
  on_rank_zero(context, [&] { result = f(); });
  mpi::broadcast(context.comm(), std::span<Result>(&result, 1), 0);
  return result;
}

/// The text of rank 0 on every rank. Collective over `context`.
[[nodiscard]] std::string text_of_rank_zero(mpi::Context& context, const std::string& text);

}  // namespace plait::io
