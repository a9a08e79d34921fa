#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "plait/io/file.hpp"

/// Numbers in HDF5 files. What is in brackets are sections of the "HDF5 File Format Specification", version 3.0.
namespace plait::io::hdf5 {

using Address = std::uint64_t;
using Bytes = std::span<const unsigned char>;

/// What the superblock says.
struct Super {
  Address base = 0;  // of the superblock itself: all addresses count from here
  Address root = 0;  // of the root group
  std::size_t address_bytes = 8;
  std::size_t length_bytes = 8;
  std::uint64_t links_of_leaf = 8;  // at most, as the next two
  std::uint64_t children_of_group = 32;
  std::uint64_t children_of_chunks = 64;
  bool has_shared_messages = false;  // in a heap
};

[[nodiscard]] bool is_undefined(Address address, const Super& super);

[[nodiscard]] std::uint64_t little_endian(Bytes bytes);

/// The bytes of a structure, taken one field after the other. What is wrong with them is thrown as FileError.
class Fields {
 public:
  /// \pre  file and super outlive it
  Fields(const File& file, const Super& super, Address at, std::uint64_t size, std::string_view what);
  /// A structure at another place of the same file.
  Fields(const Fields& of, Address at, std::uint64_t size, std::string_view what)
      : Fields(of.file_, of.super_, at, size, what) {}
  /// The next bytes of another structure.
  Fields(Fields& of, std::uint64_t size, std::string_view what);
  Fields(Fields& of, std::uint64_t size) : file_(of.file_), super_(of.super_), what_(of.what_), left_(of.bytes(size)) {}

  [[nodiscard]] const Super& super() const noexcept { return super_; }
  [[nodiscard]] Bytes left() const noexcept { return left_; }

  Bytes bytes(std::uint64_t count);
  std::uint64_t number(std::size_t size) { return little_endian(bytes(size)); }
  Address address() { return number(super_.address_bytes); }
  std::uint64_t length() { return number(super_.length_bytes); }
  bool has(std::string_view signature);
  /// The length of a name, which ends with a zero.
  std::uint64_t name();

  /// Refuses the file, which is sound.
  [[noreturn]] void refuse(std::string_view why) const;
  /// Refuses it as damaged.
  void expect(bool holds, std::string_view otherwise) const;

 private:
  const File& file_;
  const Super& super_;
  std::string what_;
  std::vector<unsigned char> storage_;
  Bytes left_;
};

}  // namespace plait::io::hdf5
