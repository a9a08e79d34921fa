#include "plait/io/text/text_file.hpp"

#include <span>

#include <fmt/format.h>

#include "plait/base/error.hpp"
#include "plait/io/file.hpp"
#include "plait/io/rank_zero.hpp"

namespace plait::io {

std::string read_text(const std::string& path, Index most_bytes, std::string_view expected) {
  const File file = File::open_to_read(path);
  const Index size = file.size();
  if (size > most_bytes) {
    throw FileError(fmt::format("{}: has {} bytes; expected {}, of at most {}", path, size, expected, most_bytes));
  }
  std::string text(static_cast<std::size_t>(size), '\0');
  text.resize(static_cast<std::size_t>(file.read_at(0, std::as_writable_bytes(std::span(text)))));
  return text;
}

std::string read_text(mpi::Context& context, const std::string& path, Index most_bytes, std::string_view expected) {
  std::string text;
  on_rank_zero(context, [&] { text = read_text(path, most_bytes, expected); });
  return text_of_rank_zero(context, text);
}

}  // namespace plait::io
