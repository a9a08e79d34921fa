// In place of hdf5.cpp, where the HDF5 library was not found.
#include <fmt/format.h>

#include "plait/base/error.hpp"
#include "plait/io/hdf5/hdf5.hpp"

namespace plait::io {

namespace {

[[noreturn]] void refuse(const std::string& file) {
  throw FileError(fmt::format(
      "{}: is for HDF5, and this plait was built without it: HDF5 for the MPI in use was not found then (on "
      "Debian libhdf5-openmpi-dev or libhdf5-mpich-dev)",
      file));
}

}  // namespace

std::string hdf5_version() { return {}; }

Hdf5Header read_hdf5_header_local(const Hdf5Name& name, Dimensions /*wanted*/) { refuse(name.file); }

Hdf5Header read_hdf5_header(mpi::Context& /*context*/, const Hdf5Name& name, Dimensions /*wanted*/) {
  refuse(name.file);
}

void read_hdf5_rows(const std::string& file, const Hdf5Header& /*header*/, Index /*first*/, Index /*count*/,
                    std::byte* /*into*/, const Progress& /*progress*/) {
  refuse(file);
}

template <FileElement T>
layout::DistributedMatrix<T> read_hdf5(mpi::Context& /*context*/, const std::string& file, const Hdf5Header& /*header*/,
                                       const Progress& /*progress*/) {
  refuse(file);
}

void expect_replaceable_hdf5(const Hdf5Name& name) { refuse(name.file); }

void write_hdf5(mpi::Context& /*context*/, const Hdf5Name& name, const Extents& /*extents*/,
                const WrittenSlab& /*slab*/, const Progress& /*progress*/) {
  refuse(name.file);
}

void write_hdf5_group(mpi::Context& /*context*/, const std::string& file, const std::string& /*group*/,
                      const std::vector<Hdf5Array>& /*arrays*/, const std::vector<Hdf5Attribute>& /*attributes*/) {
  refuse(file);
}

std::string read_hdf5_text(mpi::Context& /*context*/, const Hdf5Name& group, const std::string& /*attribute*/) {
  refuse(group.file);
}

#define PLAIT_INSTANTIATE(T)                                                                            \
  template layout::DistributedMatrix<T> read_hdf5(mpi::Context&, const std::string&, const Hdf5Header&, \
                                                  const Progress&);
PLAIT_FOR_EACH_DTYPE(PLAIT_INSTANTIATE)
#undef PLAIT_INSTANTIATE

}  // namespace plait::io
