#pragma once

#include <functional>
#include <string>

#include "plait/io/aside_file.hpp"

namespace plait::cli {

/// Writes a small text beside the place where it is to be, complete and on the disk: `publish` gives it its name.
///
/// \throws FileError  the file can't be written
[[nodiscard]] io::AsideFile text_aside(const std::string& path, const std::string& text);

/// Writes a text that comes with a result, such as its page or its trace: where that fails, a warning says so, and the
/// result is not lost. Local.
void write_beside_result(const std::string& path, const std::function<std::string()>& text);

}  // namespace plait::cli
