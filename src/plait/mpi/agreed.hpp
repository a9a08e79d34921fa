#pragma once

#include <cstddef>
#include <exception>
#include <initializer_list>
#include <optional>
#include <span>
#include <string_view>
#include <type_traits>
#include <utility>

#include "plait/base/index.hpp"
#include "plait/mpi/alike.hpp"
#include "plait/mpi/context.hpp"

namespace plait::mpi {

/// Tells all ranks whether any of them failed, and lets all of them throw alike if so: the error class and the text of
/// the lowest failing rank, with that rank's number in front unless all ranks failed alike. Tags that only some ranks
/// had reserved by then are passed over by all. Collective over the context; one all-reduce where all is well.
///
/// `failure` is what this rank caught, or null. `minima` are values that ride along and become their minimum over the
/// ranks: at most `most_minima`, as many on every rank.
inline constexpr std::size_t most_minima = 15;
void agree(Context& context, const std::exception_ptr& failure, std::span<Index> minima = {});

/// The end of `agree` where all ranks know already which is the lowest one that failed. Collective over `comm`.
[[noreturn]] void throw_failure_of(const Communicator& comm, int lowest, const std::exception_ptr& failure);

/// As `agree`, and lets all ranks throw an ArgumentError if they do not give the same arguments. Collective over the
/// context; one all-reduce where they do.
void agree(Context& context, const std::exception_ptr& failure, const Alike& arguments);

struct NamedValue {
  std::string_view name;
  Index value;
};
/// As `agree`, and lets all ranks throw if one of these is not the same on all of them. Collective over the context;
/// one all-reduce.
/// \pre  at most most_minima / 2 values, none of them the least that there is
/// \throws ArgumentError  on all ranks, naming the first value that differs, its least and its highest
void expect_alike(Context& context, std::initializer_list<NamedValue> values, const std::exception_ptr& failure = {});

template <class F>
auto agreed_alike(Context& context, F&& f) {
  using Result = std::invoke_result_t<F, Alike&>;
  Alike arguments;
  std::exception_ptr failure;
  if constexpr (std::is_void_v<Result>) {
    try {
      std::forward<F>(f)(arguments);
    } catch (...) {
      failure = std::current_exception();
    }
    agree(context, failure, arguments);
  } else {
    std::optional<Result> result;
    try {
      result.emplace(std::forward<F>(f)(arguments));
    } catch (...) {
      failure = std::current_exception();
    }
    agree(context, failure, arguments);
    return std::move(*result);
  }
}

/// Runs `f` on every rank and returns its result once it succeeded on all of them. If it threw anything anywhere, lack
/// of memory included, every rank throws (see `agree`). Collective over the context; `f` itself must not communicate,
/// or its ranks must reach the same end of that communication. An `f` that takes an `Alike&` adds to it what has to be
/// the same on all ranks.
template <class F>
auto agreed(Context& context, F&& f) {
  if constexpr (std::is_invocable_v<F, Alike&>) {
    return agreed_alike(context, std::forward<F>(f));
  } else {
    return agreed_alike(context, [&](Alike&) { return std::forward<F>(f)(); });
  }
}

}  // namespace plait::mpi
