#pragma once

#include <string>

#include "plait/learn/network/network.hpp"

#include "cli/host/job.hpp"

namespace plait::cli {

/// Writes a network as the group /network of a new HDF5 file: of layer i the data set i, a row of each unit, its bias
/// last; `scaling`, what columns and labels are taken less and divided by; and what layers there are. Collective.
void write_network(Work& work, const std::string& path, const learn::Network& network);

/// The network of such a file, on all ranks. Collective.
/// \throws FileError, ArgumentError  on all ranks: the file can't be read, or is not as it would be written
[[nodiscard]] learn::Network read_network(Work& work, const std::string& path);

/// No file of another kind is lost by writing a network there. Local.
/// \throws FileError
void expect_replaceable_network(const std::string& path);

}  // namespace plait::cli
