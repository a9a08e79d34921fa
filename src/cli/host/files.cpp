#include "cli/host/files.hpp"

#include <cstdlib>
#include <filesystem>
#include <new>
#include <system_error>

#include "cli/host/text.hpp"
#include "cli/host/values.hpp"

namespace plait::cli {

namespace fs = std::filesystem;

namespace {

/// Whether two names, of files that need not be there, are of one file.
bool are_one_file(const std::string& a, const std::string& b) {
  std::error_code failure;
  if (fs::equivalent(a, b, failure)) return true;
  // Of a relative name nothing of which is there, the canonical one would stay relative.
  const auto canonical = [&failure](const std::string& name) {
    return fs::weakly_canonical(fs::absolute(name, failure), failure);
  };
  return canonical(a) == canonical(b) && !failure;
}

NamedFile named(const JobFiles::Declared& file) {
  return {*file.path, file.option.starts_with('-') ? "the file of " + file.option : file.option};
}

}  // namespace

void InputFile::describe(mpi::Context& context, io::Dimensions wanted) {
  if (*this) *this = io::describe_file(context, path, wanted);
}

std::vector<NamedFile> JobFiles::read(const std::vector<std::string>& but) const {
  std::vector<NamedFile> all = also_read;
  for (const Declared& file : reads) {
    if (!file.path->empty() && std::ranges::find(but, file.option) == but.end()) all.push_back(named(file));
  }
  return all;
}

std::string JobFiles::called(const std::string& name) const {
  const auto file =
      std::ranges::find_if(reads, [&](const Declared& each) { return each.option == name || *each.path == name; });
  if (file == reads.end() || file->path->empty()) return name;
  return file->option.starts_with('-') ? file->option + " " + *file->path : *file->path;
}

void JobFiles::expect_different() const {
  std::vector<NamedFile> written;
  const auto expect_new = [&](const NamedFile& own, const std::vector<std::string>& may_replace) {
    std::vector<NamedFile> others = read(may_replace);
    others.insert(others.end(), written.begin(), written.end());
    for (const NamedFile& other : others) {
      if (!are_one_file(io::file_of(own.path), io::file_of(other.path))) continue;
      throw UsageError("{}: is {} and {}, expected different files", own.path, other.role, own.role);
    }
    written.push_back(own);
  };
  for (const Declared& file : writes) {
    if (!file.path->empty()) expect_new(named(file), file.may_replace);
  }
  for (const NamedFile& file : also_written) expect_new(file, {});
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

bool write_beside_result(const std::string& path, const std::function<std::string()>& text) {
  const auto warn = [](std::string_view why) { print_warning("{}; the result does not depend on it", why); };
  try {
    text_aside(path, text()).publish();
    return true;
  } catch (const FileError& error) {
    warn(error.what());
  } catch (const std::bad_alloc&) {
    warn(path + ": there is no memory for it");
  }
  return false;
}

}  // namespace plait::cli
