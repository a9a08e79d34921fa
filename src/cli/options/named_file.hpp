#pragma once

#include <string>
#include <vector>

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

}  // namespace plait::cli
