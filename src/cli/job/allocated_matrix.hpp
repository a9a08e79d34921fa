#pragma once

#include <new>
#include <string>

#include <fmt/format.h>

#include "plait/base/error.hpp"
#include "plait/base/index.hpp"
#include "plait/layout/distributed_matrix.hpp"
#include "plait/layout/layout.hpp"
#include "plait/mpi/agreed.hpp"
#include "plait/mpi/context.hpp"

#include "cli/output/quantities.hpp"

namespace plait::cli {

/// A matrix in this layout, uninitialised. Collective over `context`.
///
/// \param what  is held, for the text: "C"
/// \throws OutOfMemory  on every rank, naming one and how much it holds
template <class T>
[[nodiscard]] layout::DistributedMatrix<T> allocated_matrix(mpi::Context& context, const layout::Layout& layout,
                                                            const std::string& what) {
  return mpi::agreed(context, [&] {
    try {
      return layout::DistributedMatrix<T>(layout, context.rank());
    } catch (const std::bad_alloc&) {
      throw OutOfMemory(fmt::format("no memory for the {} that rank {} holds of {}",
                                    bytes_text(layout.elements_of(context.rank()) * Index{sizeof(T)}), context.rank(),
                                    what));
    }
  });
}

}  // namespace plait::cli
