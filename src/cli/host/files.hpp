#pragma once

#include <functional>
#include <string>
#include <vector>

#include "plait/io/aside_file.hpp"

namespace plait::cli {

/// A file and what it is to the job: "IN", "the file of --into".
struct NamedFile {
  std::string path;
  std::string role;
};

/// Whether two names, of files that need not be there, are of one file.
[[nodiscard]] bool are_one_file(const std::string& a, const std::string& b);

/// What a job writes must not replace what it reads or what else it writes.
///
/// \throws FileError  one of `written` is one of `others` or of the other ones in `written`
void expect_different_files(const std::vector<NamedFile>& written, const std::vector<NamedFile>& others);

/// The file that describes the machine, if any, on the rank that calls: that of --machine, or where `path` is empty the
/// one that PLAIT_MACHINE names.
[[nodiscard]] std::vector<NamedFile> machine_file(const std::string& path);

/// Writes a small text beside the place where it is to be, complete and on the disk: `publish` gives it its name.
///
/// \throws FileError  the file can't be written
[[nodiscard]] io::AsideFile text_aside(const std::string& path, const std::string& text);

/// Writes a text that comes with a result, such as its page or its trace: where that fails, a warning says so, and the
/// result is not lost. Local.
void write_beside_result(const std::string& path, const std::function<std::string()>& text);

}  // namespace plait::cli
