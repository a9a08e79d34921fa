#pragma once

#include <dlfcn.h>

#include <cstddef>
#include <initializer_list>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "plait/base/complex.hpp"
#include "plait/base/error.hpp"
#include "plait/base/index.hpp"
#include "plait/layout/distributed_matrix.hpp"

namespace plait::purify {

/// A library of Fortran routines, found at run time.
class FortranLibrary {
 public:
  /// Takes the program, with all that it is linked with, where that has such routines; else the first of the files.
  /// \throws Error  there is none: names the first file, and the package of Debian
  FortranLibrary(const char* name, std::initializer_list<const char*> routines,
                 std::initializer_list<const char*> files, const char* package)
      : name_(name) {
    bool has_all = true;
    for (const char* const routine : routines) has_all = has_all && dlsym(RTLD_DEFAULT, routine) != nullptr;
    if (has_all) return;
    handle_ = nullptr;
    for (const char* const file : files) {
      if (handle_ == nullptr) handle_ = dlopen(file, RTLD_NOW | RTLD_LOCAL);
    }
    if (handle_ == nullptr) {
      throw Error(ErrorKind::other, fmt::format("eigenstates take {}, and there is no {} (on Debian: {})", name,
                                                *files.begin(), package));
    }
  }

  /// \throws Error  the library lacks it
  template <class Function>
  void find(const std::string& routine, Function*& function) const {
    void* const address = dlsym(handle_, routine.c_str());
    if (address == nullptr) {
      throw Error(ErrorKind::other, fmt::format("eigenstates take {} of {}, which lacks it", routine, name_));
    }
    function = reinterpret_cast<Function*>(address);
  }

 private:
  std::string_view name_;
  void* handle_ = RTLD_DEFAULT;
};

/// Of a string that is one letter.
inline constexpr std::size_t length = 1;

/// Calls a routine, whose arguments are all pointers, but for the lengths of strings, which come last.
template <class... Arguments>
void call(void (*routine)(), Arguments... arguments) {
  reinterpret_cast<void (*)(Arguments...)>(routine)(arguments...);
}

/// The letter that stands for the type in the names of routines.
template <class T>
constexpr char letter = 's';
template <>
inline constexpr char letter<double> = 'd';
template <>
inline constexpr char letter<std::complex<float>> = 'c';
template <>
inline constexpr char letter<std::complex<double>> = 'z';

template <class T>
[[nodiscard]] int leading_dimension(const layout::DistributedMatrix<T>& matrix) {
  return matrix.const_tiles().empty() ? 1 : static_cast<int>(matrix.const_tiles()[0].leading_dimension());
}

/// What an overlap is told that has no Cholesky factor.
[[noreturn]] inline void throw_not_positive_definite(Index rows) {
  throw ArgumentError(
      fmt::format("overlap: is not positive definite, expected a matrix that is: its first {} rows "
                  "and columns have no Cholesky factor",
                  rows));
}

}  // namespace plait::purify
