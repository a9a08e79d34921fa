#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace plait::cli {

/// The names of the libraries that a program asks the dynamic linker for (DT_NEEDED), not those that these ask for.
/// Empty for what is no ELF file of this machine's kind, such as a script, and for what can't be read.
[[nodiscard]] std::vector<std::string> needed_libraries(const std::filesystem::path& program);

/// Which MPI a library of this name belongs to, "Open MPI" or "MPICH" (with those that have its binary interface);
/// empty for all other names.
[[nodiscard]] std::string_view family_of_library(std::string_view name) noexcept;

}  // namespace plait::cli
