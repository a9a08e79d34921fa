#include "plait/purify/scalapack.hpp"

#include <dlfcn.h>

#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "plait/base/complex.hpp"
#include "plait/base/error.hpp"
#include "plait/mpi/agreed.hpp"

namespace plait::purify {

namespace {

using NativeComm = decltype(std::declval<const mpi::Communicator&>().handle());

constexpr const char* library_name = "libscalapack-" PLAIT_MPI_NAME ".so";

/// What holds ScaLAPACK: null stands for the program with all that it is linked with.
void* scalapack() {
  static void* const found = [] {
    if (dlsym(RTLD_DEFAULT, "pdsyevd_") != nullptr && dlsym(RTLD_DEFAULT, "Csys2blacs_handle") != nullptr) {
      return static_cast<void*>(RTLD_DEFAULT);
    }
    void* library = nullptr;
    for (const char* const version : {".2.2", ".2.1", ""}) {
      if (library == nullptr) library = dlopen((std::string(library_name) + version).c_str(), RTLD_NOW | RTLD_LOCAL);
    }
    if (library == nullptr) {
      throw Error(ErrorKind::other,
                  fmt::format("eigenstates take ScaLAPACK, and there is no {} (on Debian: libscalapack-{}-dev)",
                              library_name, PLAIT_MPI_NAME));
    }
    return library;
  }();
  return found;
}

template <class Function>
void find(const std::string& name, Function*& function) {
  void* const address = dlsym(scalapack(), name.c_str());
  if (address == nullptr) {
    throw Error(ErrorKind::other, fmt::format("eigenstates take {} of ScaLAPACK, which {} lacks", name, library_name));
  }
  function = reinterpret_cast<Function*>(address);
}

template <class T>
constexpr char letter = 's';
template <>
constexpr char letter<double> = 'd';
template <>
constexpr char letter<std::complex<float>> = 'c';
template <>
constexpr char letter<std::complex<double>> = 'z';

}  // namespace

template <class T>
ScalapackRoutines<T>::ScalapackRoutines() {
  const auto named = [](const char* real, const char* complex) {
    return fmt::format("p{}{}_", letter<T>, is_complex<T> ? complex : real);
  };
  find(named("potrf", "potrf"), potrf);
  find(named("trsm", "trsm"), trsm);
  find(named("syrk", "herk"), rank_k);
  find(named("syevd", "heevd"), evd);
}

BlacsGrid::BlacsGrid(mpi::Context& context, int rows, int columns) {
  int (*system_handle)(NativeComm) = nullptr;
  void (*map_grid)(int*, int*, int, int, int) = nullptr;
  mpi::agreed(context, [&] {
    find("Csys2blacs_handle", system_handle);
    find("Cblacs_gridmap", map_grid);
  });
  system_ = system_handle(context.comm().handle());
  std::vector<int> ranks(static_cast<std::size_t>(rows) * static_cast<std::size_t>(columns));
  for (int i = 0; i < rows; ++i) {
    for (int j = 0; j < columns; ++j) ranks[static_cast<std::size_t>(i + j * rows)] = i * columns + j;
  }
  handle_ = system_;
  map_grid(&handle_, ranks.data(), rows, rows, columns);
}

BlacsGrid::~BlacsGrid() {
  void (*leave_grid)(int) = nullptr;
  void (*free_system)(int) = nullptr;
  find("Cblacs_gridexit", leave_grid);
  find("Cfree_blacs_system_handle", free_system);
  if (has_this_rank()) leave_grid(handle_);
  free_system(system_);
}

std::array<int, 9> BlacsGrid::descriptor(layout::Shape shape, Index block, Index leading_dimension) const {
  constexpr int dense_type = 1;
  return {dense_type,
          handle_,
          static_cast<int>(shape.rows),
          static_cast<int>(shape.columns),
          static_cast<int>(block),
          static_cast<int>(block),
          0,
          0,
          static_cast<int>(leading_dimension)};
}

template struct ScalapackRoutines<float>;
template struct ScalapackRoutines<double>;
template struct ScalapackRoutines<std::complex<float>>;
template struct ScalapackRoutines<std::complex<double>>;

}  // namespace plait::purify
