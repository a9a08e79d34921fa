#include "plait/io/hdf5/hdf5_fields.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "plait/base/error.hpp"

namespace plait::io::hdf5 {

bool is_undefined(Address address, const Super& super) {
  return address == ~Address{0} >> (8 * (sizeof(Address) - super.address_bytes));
}

std::uint64_t little_endian(Bytes bytes) {
  std::uint64_t result = 0;
  for (auto byte = bytes.rbegin(); byte != bytes.rend(); ++byte) result = result << 8U | *byte;
  return result;
}

Fields::Fields(const File& file, const Super& super, Address at, std::uint64_t size, std::string_view what)
    : file_(file), super_(super), what_(fmt::format("the {} at byte {}", what, at)) {
  const auto end = static_cast<Address>(file.size()) - super.base;
  expect(at <= end && size <= end - at, "lies beyond the end of the file");
  storage_.resize(size);
  const Index got = file.read_at(static_cast<Index>(super.base + at), std::as_writable_bytes(std::span(storage_)));
  expect(static_cast<std::uint64_t>(got) == size, "lies beyond the end of the file");
  left_ = storage_;
}

Fields::Fields(Fields& of, std::uint64_t size, std::string_view what)
    : file_(of.file_), super_(of.super_), what_(fmt::format("the {} in {}", what, of.what_)), left_(of.bytes(size)) {}

Bytes Fields::bytes(std::uint64_t count) {
  expect(count <= left_.size(), "is too short for what is in it");
  const auto result = left_.first(count);
  left_ = left_.subspan(count);
  return result;
}

bool Fields::has(std::string_view signature) {
  return std::ranges::equal(bytes(signature.size()), signature, {}, [](auto c) { return static_cast<char>(c); });
}

std::uint64_t Fields::name() {
  const auto size = std::ranges::find(left_, 0) - left_.begin();
  return bytes(static_cast<std::uint64_t>(size) + 1).size() - 1;
}

void Fields::refuse(std::string_view why) const { throw FileError(fmt::format("{}: {}", file_.path(), why)); }

void Fields::expect(bool holds, std::string_view otherwise) const {
  if (!holds) throw FileError(fmt::format("{}: is damaged: {} {}", file_.path(), what_, otherwise));
}

}  // namespace plait::io::hdf5
