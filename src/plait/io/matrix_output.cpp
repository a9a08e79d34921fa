#include "plait/io/matrix_output.hpp"

#include "plait/io/aside_file.hpp"
#include "plait/io/hdf5/hdf5.hpp"
#include "plait/io/npy/npy.hpp"
#include "plait/io/rank_zero.hpp"
#include "plait/mpi/agreed.hpp"

namespace plait::io {

StorageOrder written_order(std::string_view path, StorageOrder wanted) {
  return is_hdf5_name(path) ? StorageOrder::row_major : wanted;
}

void expect_writable_matrix(mpi::Context& context, const std::string& path) {
  on_rank_zero(context, [&] {
    const bool hdf5 = is_hdf5_name(path);
    const Hdf5Name name = hdf5 ? parse_hdf5_name(path) : Hdf5Name{path, {}};
    if (hdf5) expect_replaceable_hdf5(name);
    AsideFile::try_out(name.file);
  });
}

void write_matrix_file(mpi::Context& context, const std::string& path, const Extents& extents, const WrittenSlab& slab,
                       const Progress& progress) {
  if (is_hdf5_name(path)) {
    write_hdf5(context, mpi::agreed(context, [&] { return parse_hdf5_name(path); }), extents, slab, progress);
  } else {
    write_npy(context, path, extents, slab, progress);
  }
}

}  // namespace plait::io
