#pragma once

#include <cstddef>
#include <new>
#include <vector>

#include <fmt/format.h>

#include "plait/base/error.hpp"
#include "plait/mpi/agreed.hpp"
#include "plait/purify/products.hpp"

namespace plait::purify {

/// A matrix of this layout, uninitialised. Collective over the context.
///
/// \throws OutOfMemory  on all ranks, naming the rank and the number of bytes
template <class T>
[[nodiscard]] Matrix<T> allocate(mpi::Context& context, const layout::Layout& layout) {
  return mpi::agreed(context, [&] {
    try {
      return Matrix<T>(layout, context.rank());
    } catch (const std::bad_alloc&) {
      throw OutOfMemory(fmt::format("no memory for the {} bytes that rank {} holds of one {} matrix",
                                    Matrix<T>::bytes_of(layout, context.rank()), context.rank(),
                                    layout::to_string(layout.shape())));
    }
  });
}

/// A vector that is whole on every rank. Collective over the context.
///
/// \throws OutOfMemory  on all ranks
template <class T>
[[nodiscard]] std::vector<T> allocate_vector(mpi::Context& context, std::size_t n) {
  return mpi::agreed(context, [&] { return std::vector<T>(n); });
}

}  // namespace plait::purify
