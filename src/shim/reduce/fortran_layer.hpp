#pragma once

#include <dlfcn.h>
#include <link.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <string_view>

namespace plait::shim::reduce {

/// A function of MPI's Fortran layer. A program that loads Fortran for itself may have the layer where others don't see
/// it: it is then found by the name of its library. Null if it is not loaded.
inline void* of_fortran_layer(const char* name) noexcept {
  if (void* const found = dlsym(RTLD_DEFAULT, name); found != nullptr) return found;
  const char* path = nullptr;
  const auto find = [](dl_phdr_info* library, std::size_t /*size*/, void* result) {
    constexpr std::array layers{"libmpi_mpifh.so", "libmpichfort.so", "libmpifort.so"};
    const std::string_view candidate = library->dlpi_name;
    const std::string_view file = candidate.substr(candidate.rfind('/') + 1);
    if (std::ranges::none_of(layers, [&](const char* layer) { return file.starts_with(layer); })) return 0;
    *static_cast<const char**>(result) = library->dlpi_name;
    return 1;
  };
  dl_iterate_phdr(find, static_cast<void*>(&path));
  void* const layer = path == nullptr ? nullptr : dlopen(path, RTLD_LAZY | RTLD_NOLOAD);
  return layer == nullptr ? nullptr : dlsym(layer, name);
}

/// The function that a program's call of `name` would come to without plait; `name_of_mpi` is MPI's own.
inline void* next_or_of_mpi(const char* name, const char* name_of_mpi) noexcept {
  void* const found = dlsym(RTLD_NEXT, name);
  return found != nullptr ? found : of_fortran_layer(name_of_mpi);
}

}  // namespace plait::shim::reduce
