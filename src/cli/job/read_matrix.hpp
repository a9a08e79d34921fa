#pragma once

#include <string>

#include "plait/base/index.hpp"
#include "plait/io/dtype.hpp"
#include "plait/io/file_kind.hpp"
#include "plait/layout/distributed_matrix.hpp"
#include "plait/layout/layout.hpp"
#include "plait/mpi/context.hpp"

#include "cli/job/joint_stopwatch.hpp"
#include "cli/job/moved.hpp"
#include "cli/output/meter.hpp"

namespace plait::cli {

/// The matrix in a file, in slabs; tells so, and adds it to what was read. Collective over `context`.
///
/// \throws FileError  on every rank: see io::read_matrix_file
template <io::FileElement T>
[[nodiscard]] layout::DistributedMatrix<T> read_matrix(mpi::Context& context, const std::string& path,
                                                       const io::MatrixFile& file, Meter& meter, Moved& read) {
  const Index bytes = layout::elements(file.shape) * Index{sizeof(T)};
  meter.stage("reading " + path, bytes / context.size(), bytes);
  const JointStopwatch watch(context);
  auto matrix = io::read_matrix_file<T>(context, path, file, meter.progress());
  read.seconds += watch.seconds();
  read.bytes += bytes;
  return matrix;
}

}  // namespace plait::cli
