#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "plait/base/restart.hpp"

namespace plait::cli {

/// The names of the libraries that a program asks the dynamic linker for (DT_NEEDED), not those that these ask for.
/// Empty for what is no ELF file of this machine's kind, such as a script, and for what can't be read.
[[nodiscard]] std::vector<std::string> needed_libraries(const std::filesystem::path& program);

/// Which MPI a library of this name belongs to, "Open MPI" or "MPICH" (with those that have its binary interface);
/// empty for all other names.
[[nodiscard]] std::string_view family_of_library(std::string_view name) noexcept;

/// What brings plait's reductions into programs that know nothing of it. A build has what goes with its MPI, in the
/// folder of its libraries, which is found from where this executable lies.
struct ReductionLibraries {
  std::optional<std::filesystem::path> component;  ///< mca_op_plait.so, which Open MPI loads
  std::optional<std::filesystem::path> preload;    ///< libplait_reduce.so, which the dynamic linker loads
  std::optional<std::filesystem::path> scalapack;  ///< libplait_scalapack.so, likewise
};

[[nodiscard]] ReductionLibraries reduction_libraries();

/// The variables that switch the reductions on, in addition to what this process's environment has in them.
///
/// A library whose path can't stand in a list is told by a link to it in the user's cache.
///
/// \param with_scalapack  ScaLAPACK's routines, too
/// \throws FileError      a library that the build makes is missing; says where it was looked for
/// \throws ArgumentError  a library's path can't stand in a variable, and no link to it can be made
[[nodiscard]] std::vector<Setting> reduction_settings(const ReductionLibraries& libraries, bool with_scalapack);

/// Whether this process has loaded a library.
[[nodiscard]] bool is_loaded(const std::filesystem::path& library);

}  // namespace plait::cli
