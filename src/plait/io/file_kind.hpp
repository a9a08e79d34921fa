#pragma once

#include <string>
#include <string_view>
#include <variant>

#include "plait/base/matrix_view.hpp"
#include "plait/io/dtype.hpp"
#include "plait/io/extents.hpp"
#include "plait/io/file.hpp"
#include "plait/io/hdf5/hdf5.hpp"
#include "plait/io/matrix_market/matrix_market_header.hpp"
#include "plait/io/npy/npy_header.hpp"
#include "plait/io/progress.hpp"
#include "plait/io/text/text_rows.hpp"
#include "plait/layout/distributed_matrix.hpp"
#include "plait/layout/shape.hpp"
#include "plait/mpi/context.hpp"

namespace plait::io {

enum class FileKind : unsigned char { npy, matrix_market, hdf5, csv, svm };

/// "NumPy .npy", "Matrix Market", "HDF5", "CSV", "LIBSVM".
[[nodiscard]] std::string_view name(FileKind kind);

/// A file with a matrix, of any of the kinds that plait reads. Reading it gives elements of `dtype` in the layout
/// `slab_layout(shape, order, context.size())`.
///
/// One with an array of one or three dimensions is read as the matrix that lies as it does: see Extents.
struct MatrixFile {
  FileKind kind = FileKind::npy;
  DType dtype = DType::f64;
  layout::Shape shape;
  StorageOrder order = StorageOrder::row_major;
  std::variant<NpyHeader, MatrixMarketHeader, Hdf5Header, TextRows> header;
  FileIdentity identity;  // on rank 0, when the header was read
  Extents extents = {};
};

/// The name of the file alone, where `path` names a data set in it.
///
/// \throws ArgumentError  see parse_hdf5_name
[[nodiscard]] std::string file_of(const std::string& path);

/// Tells what a file is and reads its header: by its first bytes, whatever its name, or by a name that ends in .csv,
/// .svm or .libsvm. `path` may name a data set of an
/// HDF5 file, as FILE.h5:/path/to/dataset (see Hdf5Name). Collective over `context`.
///
/// \throws FileError      on every rank: the file can't be read, is of none of the kinds (quoting how it begins), or
///                        its header is malformed
/// \throws ArgumentError  on every rank: a data set is named in a file of another kind, or `path` ends where its name
///                        should be
[[nodiscard]] MatrixFile describe_file(mpi::Context& context, const std::string& path, Dimensions wanted);
[[nodiscard]] inline MatrixFile describe_matrix_file(mpi::Context& context, const std::string& path) {
  return describe_file(context, path, matrices);
}

/// The labels in a file of LIBSVM's format, as a matrix of one column.
/// \pre  file.kind == FileKind::svm
[[nodiscard]] MatrixFile labels_of(MatrixFile file);
/// A file of LIBSVM's format read with the columns of another one, if that has more; others as they are.
///
/// \throws ArgumentError  one of them counts its columns from 0, the other one from 1, naming both
[[nodiscard]] MatrixFile with_columns_of(const std::string& other_path, const MatrixFile& other,
                                         const std::string& path, MatrixFile file);
/// "12 x 4"; of a file of LIBSVM's format "12 x 4 with columns counted from 1"; and whether a first line is no row.
[[nodiscard]] std::string shape_text(const MatrixFile& file);

/// The matrix in a file of any kind: see read_npy, read_matrix_market, read_hdf5 and read_text_rows. Collective over
/// `context`.
///
/// \pre  dtype_of<T>() == file.dtype
/// \throws FileError  on every rank, also if the file was replaced or written to since it was described
template <FileElement T>
[[nodiscard]] layout::DistributedMatrix<T> read_matrix_file(mpi::Context& context, const std::string& path,
                                                            const MatrixFile& file, const Progress& progress = {});

}  // namespace plait::io
