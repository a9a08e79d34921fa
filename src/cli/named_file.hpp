#pragma once

#include <string>

namespace plait::cli {

/// A file and what it is to the job: "IN", "the file of --into".
struct NamedFile {
  std::string path;
  std::string role;
};

}  // namespace plait::cli
