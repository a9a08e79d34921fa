#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "plait/base/index.hpp"
#include "plait/io/dtype.hpp"
#include "plait/io/extents.hpp"
#include "plait/io/file.hpp"
#include "plait/io/hdf5/hdf5_name.hpp"
#include "plait/io/progress.hpp"
#include "plait/io/slab.hpp"
#include "plait/layout/distributed_matrix.hpp"
#include "plait/layout/shape.hpp"
#include "plait/mpi/context.hpp"

/// Matrices in HDF5 files: data sets of two dimensions. Every rank reads and writes its own rows, at once with the
/// others. No rank waits for another within the HDF5 library, and a rank's failure there is thrown on all: so its own
/// calls for MPI, in which the others would hang, are left out.
///
/// A build without HDF5 has all these functions, and they throw a FileError that says so. HDF5 is not thread-safe:
/// threads that drive different contexts have to take turns.
namespace plait::io {

/// "1.10.8", of the library that is in use; empty in a build without HDF5.
[[nodiscard]] std::string hdf5_version();

/// Where HDF5 begins in a file, if it holds any: at its beginning or, behind a block of the user's, at byte 512, 1024,
/// 2048 and so on.
[[nodiscard]] std::optional<Index> find_hdf5(const File& file);

/// A data set with a matrix, or with an array that is read as one (see Extents). Its elements lie by rows, as
/// in C.
struct Hdf5Header {
  std::string data_set;  // its path from the root
  DType dtype = DType::f64;
  layout::Shape shape;
  Extents extents = {};

  friend bool operator==(const Hdf5Header&, const Hdf5Header&) = default;
};

/// What a file that this process alone reads tells of the matrix. Where `name` has no data set, it is the only one of
/// the dimensions that are wanted and of a DType.
///
/// Any byte order and storage will do: contiguous, in chunks, compressed by a filter that the HDF5 library has. A
/// complex number is a compound of two real ones called r and i, as h5py has it, re and im, or real and imag.
///
/// \throws FileError  see read_hdf5_header
[[nodiscard]] Hdf5Header read_hdf5_header_local(const Hdf5Name& name, Dimensions wanted = matrices);

/// The same, as rank 0 reads it. Collective over `context`.
///
/// \throws FileError  on every rank, beginning with the file's name: it can't be read, is no HDF5 file or a damaged
///                    one; the data set is missing, a group, or not what is wanted of a DType; there are none or
///                    several and none is named. Tells which matrices there are
[[nodiscard]] Hdf5Header read_hdf5_header(mpi::Context& context, const Hdf5Name& name, Dimensions wanted = matrices);

/// Rows [first, first + count) of the matrix, one after the other, in this machine's byte order. Local.
///
/// \pre  0 <= first <= first + count <= header.shape.rows; `into` has room for count · columns elements of header.dtype
/// \throws FileError  the file can't be read, or no longer has that matrix
void read_hdf5_rows(const std::string& file, const Hdf5Header& header, Index first, Index count, std::byte* into,
                    const Progress& progress = {});

/// The matrix as `slab_layout(header.shape, row_major, context.size())`. Collective over `context`; the ranks give the
/// same header.
///
/// \pre  dtype_of<T>() == header.dtype
/// \throws FileError      on every rank: the file can't be read
/// \throws ArgumentError  on every rank: T is not the header's type
/// \throws OutOfMemory    on every rank, naming the number of bytes
template <FileElement T>
[[nodiscard]] layout::DistributedMatrix<T> read_hdf5(mpi::Context& context, const std::string& file,
                                                     const Hdf5Header& header, const Progress& progress = {});

/// The data set's path where none is given.
inline constexpr std::string_view usual_data_set = "/matrix";

/// Whether `write_hdf5` may write this: a file of that name is missing, or it is replaced whole and holds nothing else.
/// Local.
///
/// A data set's path that ends in "/" is a group, and stands for all in it.
///
/// \throws FileError  there is an HDF5 file with other data sets or groups, which would be lost
void expect_replaceable_hdf5(const Hdf5Name& name);

/// Writes a matrix, or an array that has it `as_matrix`, as the only data set of a new HDF5 file, contiguous, complex
/// numbers as a compound of r and i; groups on its path are made. A file that is there is replaced only once everything
/// is on the disk (see OutputFile). Collective over `context`.
///
/// \pre  slab.layout() == slab_layout(shape, row_major, context.size()); slab.rank() is this rank
/// \throws ArgumentError  on every rank: the matrix is distributed otherwise
/// \throws FileError      on every rank: the file can't be written, or see expect_replaceable_hdf5; a file that was
///                        there is as it was
void write_hdf5(mpi::Context& context, const Hdf5Name& name, const Extents& extents, const WrittenSlab& slab,
                const Progress& progress = {});
inline void write_hdf5(mpi::Context& context, const Hdf5Name& name, const WrittenSlab& slab,
                       const Progress& progress = {}) {
  write_hdf5(context, name, Extents::of(slab.layout.shape()), slab, progress);
}

/// An array of f64 as a data set, and a text about a group.
struct Hdf5Array {
  std::string name;
  Extents extents;
  std::span<const double> elements;  ///< by rows
};
struct Hdf5Attribute {
  std::string name, text;
};

/// Writes arrays that rank 0 has as data sets of a group, which is all that a new HDF5 file holds; otherwise as
/// `write_hdf5`. Collective over `context`.
///
/// \throws FileError  on every rank, see write_hdf5
void write_hdf5_group(mpi::Context& context, const std::string& file, const std::string& group,
                      const std::vector<Hdf5Array>& arrays, const std::vector<Hdf5Attribute>& attributes = {});

/// A text that `write_hdf5_group` has written about a group. Collective over `context`.
///
/// \throws FileError  on every rank: the file can't be read, or has no such group or text
[[nodiscard]] std::string read_hdf5_text(mpi::Context& context, const Hdf5Name& group, const std::string& attribute);

}  // namespace plait::io
