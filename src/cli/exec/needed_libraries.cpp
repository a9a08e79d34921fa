#include "cli/exec/needed_libraries.hpp"

#include <elf.h>

#include <cstdint>
#include <cstring>
#include <fstream>
#include <optional>

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

}  // namespace plait::cli
