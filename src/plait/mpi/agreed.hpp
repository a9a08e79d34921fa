#pragma once

#include <cstddef>
#include <exception>
#include <optional>
#include <span>
#include <type_traits>
#include <utility>

#include "plait/base/index.hpp"
#include "plait/mpi/context.hpp"

namespace plait::mpi {

/// Tells all ranks whether any of them failed, and lets all of them throw alike if so: the error class and the text of
/// the lowest failing rank, with that rank's number in front. Collective over the context; one all-reduce where all is
/// well.
///
/// `failure` is what this rank caught, or null. `minima` are values that ride along and become their minimum over the
/// ranks: at most `most_minima`, as many on every rank.
inline constexpr std::size_t most_minima = 15;
void agree(Context& context, const std::exception_ptr& failure, std::span<Index> minima = {});

/// Runs `f` on every rank and returns its result once it succeeded on all of them. If it threw anything anywhere, lack
/// of memory included, every rank throws (see `agree`). Collective over the context; `f` itself must not communicate,
/// or its ranks must reach the same end of that communication.
template <class F>
auto agreed(Context& context, F&& f) {
  using Result = std::invoke_result_t<F>;
  std::exception_ptr failure;
  if constexpr (std::is_void_v<Result>) {
    try {
      std::forward<F>(f)();
    } catch (...) {
      failure = std::current_exception();
    }
    agree(context, failure);
  } else {
    std::optional<Result> result;
    try {
      result.emplace(std::forward<F>(f)());
    } catch (...) {
      failure = std::current_exception();
    }
    agree(context, failure);
    return std::move(*result);
  }
}

}  // namespace plait::mpi
