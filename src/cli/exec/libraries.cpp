#include "cli/exec/libraries.hpp"

#include <dlfcn.h>
#include <elf.h>
#include <sys/auxv.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <functional>

#include <fmt/format.h>

#include "plait/base/error.hpp"

namespace plait::cli {

namespace {

/// Reads a file that may be anything: all places and sizes in it may be wrong.
class ElfFile {
 public:
  explicit ElfFile(const std::filesystem::path& path) : file_(path, std::ios::binary) {}

  [[nodiscard]] std::vector<std::string> needed() {
    const auto header = read<Elf64_Ehdr>(0);
    if (!header || std::memcmp(header->e_ident, ELFMAG, SELFMAG) != 0 || header->e_ident[EI_CLASS] != ELFCLASS64 ||
        header->e_ident[EI_DATA] != native_order || header->e_phentsize != sizeof(Elf64_Phdr)) {
      return {};
    }
    std::optional<Elf64_Phdr> dynamic;
    for (std::uint64_t i = 0; i < header->e_phnum; ++i) {
      const auto segment = read<Elf64_Phdr>(header->e_phoff + i * sizeof(Elf64_Phdr));
      if (!segment) return {};
      if (segment->p_type == PT_LOAD) loaded_.push_back(*segment);
      if (segment->p_type == PT_DYNAMIC) dynamic = segment;
    }
    return dynamic ? needed_of(*dynamic) : std::vector<std::string>();
  }

 private:
  static constexpr unsigned char native_order = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? ELFDATA2LSB : ELFDATA2MSB;

  [[nodiscard]] std::vector<std::string> needed_of(const Elf64_Phdr& dynamic) {
    std::vector<std::uint64_t> names;  // where they begin in the table of strings
    std::optional<std::uint64_t> strings;
    for (std::uint64_t at = 0; at + sizeof(Elf64_Dyn) <= dynamic.p_filesz; at += sizeof(Elf64_Dyn)) {
      const auto entry = read<Elf64_Dyn>(dynamic.p_offset + at);
      if (!entry || entry->d_tag == DT_NULL) break;
      if (entry->d_tag == DT_NEEDED) names.push_back(entry->d_un.d_val);
      if (entry->d_tag == DT_STRTAB) strings = place_in_file(entry->d_un.d_ptr);
    }
    std::vector<std::string> needed;
    if (!strings) return needed;
    for (const std::uint64_t name : names) {
      std::string text;
      if (seek(*strings + name) && std::getline(file_, text, '\0')) needed.push_back(text);
    }
    return needed;
  }

  [[nodiscard]] std::optional<std::uint64_t> place_in_file(std::uint64_t address) const {
    for (const Elf64_Phdr& segment : loaded_) {
      if (address >= segment.p_vaddr && address - segment.p_vaddr < segment.p_filesz) {
        return address - segment.p_vaddr + segment.p_offset;
      }
    }
    return std::nullopt;
  }

  bool seek(std::uint64_t at) {
    file_.clear();
    return static_cast<bool>(file_.seekg(static_cast<std::streamoff>(at)));
  }

  template <class T>
  [[nodiscard]] std::optional<T> read(std::uint64_t at) {
    T value{};
    if (!seek(at) || !file_.read(reinterpret_cast<char*>(&value), sizeof value)) return std::nullopt;
    return value;
  }

  std::ifstream file_;
  std::vector<Elf64_Phdr> loaded_;
};

namespace fs = std::filesystem;

constexpr std::string_view component_file = "mca_op_plait.so";
constexpr std::string_view preload_file = "libplait_reduce.so";
constexpr std::string_view scalapack_file = "libplait_scalapack.so";

// As seen from the folder of this executable: where `cmake --install` puts libraries, and where the build does.
std::array<fs::path, 2> library_folders() {
  std::error_code failure;  // where the file is no longer there; /proc need not be
  const auto* const name = reinterpret_cast<const char*>(getauxval(AT_EXECFN));
  const fs::path executable = fs::canonical(name, failure).parent_path();
  return {(executable / PLAIT_LIBRARIES_FROM_COMMAND).lexically_normal(),
          (executable / PLAIT_LIBRARIES_OF_BUILD).lexically_normal()};
}

std::optional<fs::path> found(std::string_view file) {
  for (const fs::path& folder : library_folders()) {
    if (folder.is_absolute() && fs::exists(folder / file)) return folder / file;
  }
  return std::nullopt;
}

std::string environment(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? "" : value;
}

bool holds_one_of(const fs::path& path, std::string_view characters) {
  return path.native().find_first_of(characters) != std::string::npos;
}

// A link to the folder, whose own name holds none of the separators: always the same one, so that none is left behind.
std::optional<fs::path> link_without(std::string_view separators, const fs::path& folder) {
  const std::string cache = environment("XDG_CACHE_HOME");
  const fs::path links = (cache.empty() ? fs::path(environment("HOME")) / ".cache" : fs::path(cache)) / "plait";
  if (!links.is_absolute() || holds_one_of(links, separators)) return std::nullopt;
  const fs::path link = links / fmt::format("libraries-{:016x}", std::hash<std::string>{}(folder.native()));
  std::error_code failure;
  if (fs::read_symlink(link, failure) == folder) return link;
  fs::create_directories(links, failure);
  const fs::path made = link.native() + fmt::format(".{}", ::getpid());  // jobs may begin at one time
  fs::create_directory_symlink(folder, made, failure);
  if (failure) return std::nullopt;
  fs::rename(made, link, failure);
  return failure ? std::nullopt : std::optional(link);
}

// Both variables are lists; neither has a way to write a name that holds what separates them.
Setting appended(const std::string& name, const std::string& list, const fs::path& library,
                 std::string_view separators) {
  fs::path entry = library;
  if (holds_one_of(entry, separators)) {
    const auto link = link_without(separators, entry.parent_path());
    if (!link || holds_one_of(entry.filename(), separators)) {
      throw ArgumentError(
          fmt::format("{} can't be told in {}: its name holds a separator of lists, and no link to it can be "
                      "made in $XDG_CACHE_HOME or ~/.cache",
                      entry.native(), name));
    }
    entry = *link / entry.filename();
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
  throw FileError(fmt::format("{} is not there, nor in {}: programs of {} are served by it, and ./dev build makes it",
                              (folders[0] / file).native(), folders[1].native(), PLAIT_MPI_FAMILY));
}

}  // namespace

std::vector<std::string> needed_libraries(const std::filesystem::path& program) {
  std::error_code none;
  if (!std::filesystem::is_regular_file(program, none)) return {};
  return ElfFile(program).needed();
}

std::string_view family_of_library(std::string_view name) noexcept {
  if (name.starts_with("libmpich") || name.starts_with("libmpi.so.12") || name.starts_with("libmpifort.so")) {
    return "MPICH";
  }
  if (name.starts_with("libmpi.so.")) return "Open MPI";
  // What a Fortran program asks for: mpif.h's library, or only that of its module.
  if (name.starts_with("libmpi_mpifh.so") || name.starts_with("libmpi_usempi")) return "Open MPI";
  return "";
}

ReductionLibraries reduction_libraries() {
  return {PLAIT_HAS_COMPONENT != 0 ? found(component_file) : std::nullopt, found(preload_file), found(scalapack_file)};
}

std::vector<Setting> reduction_settings(const ReductionLibraries& libraries, bool with_scalapack) {
  if (PLAIT_HAS_COMPONENT != 0) expect_found(libraries.component, component_file);
  expect_found(libraries.preload, preload_file);
  std::vector<Setting> settings;
  if (libraries.component) settings.push_back(component_setting(*libraries.component));
  settings.push_back(appended("LD_PRELOAD", environment("LD_PRELOAD"), *libraries.preload, ": "));
  if (with_scalapack) {
    expect_found(libraries.scalapack, scalapack_file);
    settings.back() = appended("LD_PRELOAD", settings.back().value, *libraries.scalapack, ": ");
  }
  return settings;
}

bool is_loaded(const fs::path& library) {
  void* const handle = dlopen(library.c_str(), RTLD_LAZY | RTLD_NOLOAD);
  if (handle == nullptr) return false;
  dlclose(handle);
  return true;
}

}  // namespace plait::cli
