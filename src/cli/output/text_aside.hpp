#pragma once

#include <string>

#include "plait/io/aside_file.hpp"

namespace plait::cli {

/// Writes a small text beside the place where it is to be, complete and on the disk: `publish` gives it its name.
///
/// \throws FileError  the file can't be written
[[nodiscard]] io::AsideFile text_aside(const std::string& path, const std::string& text);

}  // namespace plait::cli
