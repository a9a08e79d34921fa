#include "cli/scaled_job.hpp"

#include "plait/io/slab.hpp"

namespace plait::cli {

std::vector<Index> memory_of_scaling(const mpi::Context& context, const io::MatrixFile& file, Index element_bytes,
                                     Index beside_bytes) {
  const Index elements = io::slab_layout(file.shape, file.order, context.size()).elements_of(context.rank());
  const Index vectors = 6 * (file.shape.rows + file.shape.columns) * Index{sizeof(double)};
  const Index read = io::bytes(file.dtype);
  const bool is_kept_as_read = read == element_bytes;
  return {elements * (is_kept_as_read ? read : read + element_bytes) + vectors,
          elements * (element_bytes + beside_bytes) + vectors};
}

}  // namespace plait::cli
