#include "cli/exec/reduction_libraries.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <string_view>

#include <fmt/format.h>

#include "plait/base/error.hpp"

namespace plait::cli {

namespace {

namespace fs = std::filesystem;

constexpr std::string_view component_file = "plait/openmpi/mca_op_plait.so";
constexpr std::string_view preload_file = "libplait_reduce.so";

// As seen from the folder of this executable: where `cmake --install` puts libraries, and where the build does.
std::array<fs::path, 2> library_folders() {
  const fs::path executable = fs::read_symlink("/proc/self/exe").parent_path();
  return {(executable / PLAIT_LIBRARIES_FROM_COMMAND).lexically_normal(), executable.parent_path() / "lib"};
}

std::optional<fs::path> found(std::string_view file) {
  for (const fs::path& folder : library_folders()) {
    if (fs::exists(folder / file)) return folder / file;
  }
  return std::nullopt;
}

std::string environment(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? "" : value;
}

// Both variables are lists; neither has a way to write a name that holds what separates them.
Setting appended(const std::string& name, const std::string& list, const fs::path& entry, std::string_view separators) {
  if (entry.native().find_first_of(separators) != std::string::npos) {
    throw ArgumentError(
        fmt::format("{} can't be told in {}: its name holds a separator of lists", entry.native(), name));
  }
  for (std::size_t begin = 0; begin < list.size();) {
    const std::size_t end = std::min(list.find_first_of(separators, begin), list.size());
    if (list.substr(begin, end - begin) == entry.native()) return {name, list};
    begin = end + 1;
  }
  return {name, list.empty() ? entry.native() : list + ":" + entry.native()};
}

// Open MPI stops at the first folder that does not exist, which that of the user need not: it comes last.
Setting component_setting(const fs::path& component) {
  const std::string name = "OMPI_MCA_mca_base_component_path";
  const std::string user_set = environment(name.c_str());
  Setting setting = appended(name, user_set.empty() ? "SYSTEM_DEFAULT" : user_set, component.parent_path(), ":");
  if (user_set.empty()) setting.value += ":USER_DEFAULT";
  return setting;
}

// Of a build that has it.
void expect_found(const std::optional<fs::path>& library, std::string_view file) {
  if (library) return;
  const auto folders = library_folders();
  throw FileError(
      fmt::format("{} is not there, nor in {}: programs of {} get the reductions by it, which ./dev build makes",
                  (folders[0] / file).native(), folders[1].native(), PLAIT_MPI_FAMILY));
}

}  // namespace

ReductionLibraries reduction_libraries() {
  return {PLAIT_HAS_COMPONENT != 0 ? found(component_file) : std::nullopt, found(preload_file)};
}

std::vector<Setting> reduction_settings(const ReductionLibraries& libraries) {
  if (PLAIT_HAS_COMPONENT != 0) expect_found(libraries.component, component_file);
  expect_found(libraries.preload, preload_file);
  std::vector<Setting> settings;
  if (libraries.component) settings.push_back(component_setting(*libraries.component));
  settings.push_back(appended("LD_PRELOAD", environment("LD_PRELOAD"), *libraries.preload, ": "));
  return settings;
}

bool is_loaded(const fs::path& library) {
  void* const handle = dlopen(library.c_str(), RTLD_LAZY | RTLD_NOLOAD);
  if (handle == nullptr) return false;
  dlclose(handle);
  return true;
}

}  // namespace plait::cli
