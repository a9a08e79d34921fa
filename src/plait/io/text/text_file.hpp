#pragma once

#include <string>
#include <string_view>

#include "plait/base/index.hpp"
#include "plait/mpi/context.hpp"

namespace plait::io {

/// The whole of a small file. Local.
///
/// \param expected  what it should be, for the error: "a layout in JSON"
/// \throws FileError  beginning with the path: it can't be read, or has more than `most_bytes` bytes
[[nodiscard]] std::string read_text(const std::string& path, Index most_bytes, std::string_view expected);

/// The same on every rank, as rank 0 reads it. Collective over `context`.
///
/// \throws FileError  on every rank
[[nodiscard]] std::string read_text(mpi::Context& context, const std::string& path, Index most_bytes,
                                    std::string_view expected);

}  // namespace plait::io
