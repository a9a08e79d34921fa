#pragma once

#include <exception>
#include <functional>
#include <string>
#include <string_view>

#include <nlohmann/json_fwd.hpp>

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

/// The value of a JSON text, in no object of which a key stands twice.
///
/// \param fail  called with what is wrong; it throws
[[nodiscard]] nlohmann::json parse_strictly(std::string_view text, const std::function<void(const std::string&)>& fail);

/// What the parser says is wrong, without its own name of it; bytes that it quotes are shown as <FF>, unless they are
/// ASCII.
[[nodiscard]] std::string complaint_of(const std::exception& error);

/// A value for an error text: whatever is large or deep is only named.
[[nodiscard]] std::string shown(const nlohmann::json& value);

}  // namespace plait::io
