#pragma once

#include <dlfcn.h>

#include <initializer_list>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "plait/base/error.hpp"

namespace plait {

/// A library that is found at run time, so that only those need it who ask for what takes it.
class LoadedLibrary {
 public:
  /// Takes the program, with all that it is linked with, where that has such routines; else the first of the files.
  /// \param purpose  what takes it, in the plural, to be told where it is missing
  /// \throws Error  there is none: names the first file, and the package of Debian
  LoadedLibrary(std::string_view purpose, std::string_view name, std::initializer_list<const char*> routines,
                std::initializer_list<const char*> files, std::string_view package)
      : purpose_(purpose), name_(name) {
    bool has_all = true;
    for (const char* const routine : routines) has_all = has_all && dlsym(RTLD_DEFAULT, routine) != nullptr;
    if (has_all) return;
    handle_ = nullptr;
    for (const char* const file : files) {
      if (handle_ == nullptr) handle_ = dlopen(file, RTLD_NOW | RTLD_LOCAL);
    }
    if (handle_ == nullptr) {
      throw Error(ErrorKind::other, fmt::format("{} take {}, and there is no {} (on Debian: {})", purpose, name,
                                                *files.begin(), package));
    }
  }

  /// Null where the library, with all that it is linked with, lacks it.
  template <class Function>
  [[nodiscard]] Function* found(const char* routine) const {
    return reinterpret_cast<Function*>(dlsym(handle_, routine));
  }

  /// \throws Error  the library lacks it
  template <class Function>
  void find(const std::string& routine, Function*& function) const {
    function = found<Function>(routine.c_str());
    if (function == nullptr) {
      throw Error(ErrorKind::other, fmt::format("{} take {} of {}, which lacks it", purpose_, routine, name_));
    }
  }

 private:
  std::string_view purpose_, name_;
  void* handle_ = RTLD_DEFAULT;
};

}  // namespace plait
