#pragma once

#include <string>
#include <string_view>

#include "plait/model/machine.hpp"
#include "plait/mpi/context.hpp"

/// The description of a machine as a file: JSON, as `plait machine` writes it; docs/machine.md tells the keys.
namespace plait::io {

/// The version of the format. A file of another one is refused.
inline constexpr int machine_file_version = 1;

/// The text of a file. Numbers are read back as they are.
/// \pre  expect_valid(machine) throws nothing
[[nodiscard]] std::string machine_text(const model::Machine& machine);

/// Everything has to be there, and nothing else: a constant that is misspelt would be one that is assumed. But the rate
/// of products is assumed where the file has none, as files of earlier versions of plait, and `description` says so.
///
/// \param path  whose text it is, for errors
/// \throws FileError  naming the file, the key, its value and what was expected
[[nodiscard]] model::Machine parse_machine(std::string_view text, const std::string& path);

/// The machine that a file describes, alike on every rank: rank 0 reads it. Collective over `context`.
///
/// \throws FileError  on every rank, as above or because the file can't be read
[[nodiscard]] model::Machine read_machine(mpi::Context& context, const std::string& path);

}  // namespace plait::io
