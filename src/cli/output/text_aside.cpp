#include "cli/output/text_aside.hpp"

#include <span>

#include "plait/base/index.hpp"

namespace plait::cli {

io::AsideFile text_aside(const std::string& path, const std::string& text) {
  auto file = io::AsideFile::create(path, static_cast<Index>(text.size()));
  file.write_at(0, std::as_bytes(std::span(text)));
  file.sync();
  return file;
}

}  // namespace plait::cli
