#include "cli/output/text_aside.hpp"

#include <new>
#include <span>
#include <string_view>

#include <fmt/format.h>

#include "plait/base/error.hpp"
#include "plait/base/index.hpp"

#include "cli/output/print.hpp"

namespace plait::cli {

io::AsideFile text_aside(const std::string& path, const std::string& text) {
  auto file = io::AsideFile::create(path, static_cast<Index>(text.size()));
  file.write_at(0, std::as_bytes(std::span(text)));
  file.sync();
  return file;
}

void write_beside_result(const std::string& path, const std::function<std::string()>& text) {
  const auto warn = [](std::string_view why) {
    print_warning(fmt::format("{}; the result does not depend on it", why));
  };
  try {
    text_aside(path, text()).publish();
  } catch (const FileError& error) {
    warn(error.what());
  } catch (const std::bad_alloc&) {
    warn(path + ": there is no memory for it");
  }
}

}  // namespace plait::cli
