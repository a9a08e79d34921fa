#pragma once

#include <functional>

#include "plait/base/index.hpp"

namespace plait::io {

/// Is told now and then how many bytes of its part of a file this rank has read or written so far; may be empty. What
/// it throws ends the operation on every rank, as an error of the file would.
using Progress = std::function<void(Index bytes_done)>;

}  // namespace plait::io
