#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "plait/graph/mesh.hpp"
#include "plait/io/aside_file.hpp"
#include "plait/io/dtype.hpp"
#include "plait/io/extents.hpp"
#include "plait/io/progress.hpp"
#include "plait/layout/distributed_matrix.hpp"
#include "plait/layout/shape.hpp"
#include "plait/mpi/context.hpp"

namespace plait::io {

/// Where the values of an array lie in space: its last axis is x, the one before y, then z.
struct ImageGrid {
  Extents extents;
  std::vector<double> spacing;  ///< along each axis, in the order of the extents
  std::vector<double> origin;   ///< of the first cell's corner, or of the first point; likewise
  bool has_cells = true;        ///< values are those of cells, or of points
};

/// Whether a file to be written under this name becomes one of these: FILE.vti.
[[nodiscard]] bool is_vti_name(std::string_view path);

/// Writes an array of real numbers as VTK's XML image data, raw and appended, which ParaView reads. A file that is
/// there is replaced only once everything is on the disk (see OutputFile). Collective over `context`.
///
/// \pre  slab.layout() == slab_layout(extents.as_matrix(row_major), row_major, context.size())
/// \throws ArgumentError  on every rank: the matrix is distributed otherwise
/// \throws FileError      on every rank: the file can't be written; a file that was there is as it was
///
/// Source: Kitware, "VTK File Formats", XML formats, version 1.0 with header_type UInt64.
template <class T>
void write_vti(mpi::Context& context, const std::string& path, const layout::DistributedMatrix<T>& slab,
               const ImageGrid& grid, std::string_view name, const Progress& progress = {});

/// Writes a mesh with a number for each cell aside, as VTK's XML unstructured grid, likewise. One process does.
///
/// \pre  as many values as cells
/// \throws FileError  the file can't be written
[[nodiscard]] AsideFile write_vtu_aside(const std::string& path, const graph::Mesh& mesh, std::string_view name,
                                        std::span<const int> values);

}  // namespace plait::io
