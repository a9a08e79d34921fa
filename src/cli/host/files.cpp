#include "cli/host/files.hpp"

#include <cstdlib>
#include <filesystem>
#include <new>
#include <span>
#include <string_view>
#include <system_error>

#include <fmt/format.h>

#include "plait/base/error.hpp"
#include "plait/base/index.hpp"
#include "plait/io/file_kind.hpp"

#include "cli/host/text.hpp"

namespace plait::cli {

namespace fs = std::filesystem;

bool are_one_file(const std::string& a, const std::string& b) {
  std::error_code failure;
  if (fs::equivalent(a, b, failure)) return true;
  // Of a relative name nothing of which is there, the canonical one would stay relative.
  const auto canonical = [&failure](const std::string& name) {
    return fs::weakly_canonical(fs::absolute(name, failure), failure);
  };
  return canonical(a) == canonical(b) && !failure;
}

void expect_different_files(const std::vector<NamedFile>& written, const std::vector<NamedFile>& others) {
  std::vector<NamedFile> taken = others;
  for (const NamedFile& file : written) {
    for (const NamedFile& other : taken) {
      if (!are_one_file(io::file_of(file.path), io::file_of(other.path))) continue;
      throw FileError(fmt::format("{}: is {} and {}, expected different files", file.path, other.role, file.role));
    }
    taken.push_back(file);
  }
}

std::vector<NamedFile> machine_file(const std::string& path) {
  if (!path.empty()) return {{path, "the file of --machine"}};
  const char* const setting = std::getenv("PLAIT_MACHINE");
  if (setting == nullptr || *setting == '\0') return {};
  return {{setting, "the file that PLAIT_MACHINE names"}};
}

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
