#include <array>
#include <optional>
#include <span>
#include <string_view>

#include "plait/io/hdf5/hdf5.hpp"

namespace plait::io {

std::optional<Index> find_hdf5(const File& file) {
  constexpr std::string_view signature = "\x89HDF\r\n\x1a\n";
  constexpr Index least_user_block = 512;
  const Index size = file.size();
  for (Index at = 0; at + static_cast<Index>(signature.size()) <= size; at = at == 0 ? least_user_block : 2 * at) {
    std::array<char, signature.size()> bytes{};
    if (file.read_at(at, std::as_writable_bytes(std::span(bytes))) == static_cast<Index>(bytes.size()) &&
        std::string_view(bytes.data(), bytes.size()) == signature) {
      return at;
    }
  }
  return std::nullopt;
}

}  // namespace plait::io
