#pragma once

#include <span>
#include <string>
#include <string_view>

#include "plait/redistribute/relabel/incoming.hpp"

namespace plait::cli {

/// Draws how much each rank (row) sends to each other (column) as an SVG file, aside and renamed: darker is more, and
/// what stays on its rank has another color. Many ranks share a square. With `rank_of`, a second picture beside it
/// shows the same after relabeling.
///
/// \param heading  what is redistributed
/// \param command  that draws it, which stands below
/// \throws FileError  the file can't be written
void write_communication_plot(const std::string& path, std::string_view heading, std::string_view command,
                              redistribute::Incoming& incoming, int ranks, std::span<const int> rank_of);

}  // namespace plait::cli
