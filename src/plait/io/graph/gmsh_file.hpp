#pragma once

#include <string>

#include "plait/graph/mesh.hpp"

namespace plait::io {

/// Whether a file is one of gmsh's by its name, which ends in .msh, or begins as these do: with "$".
/// \throws FileError  it can't be read
[[nodiscard]] bool is_gmsh_file(const std::string& path);

/// The mesh in a file of gmsh's format, version 4.1, in text or binary of either byte order: the elements of the
/// highest dimension that there is, in the order of the file, by their corners. Nodes have any numbers.
///
/// \throws FileError  beginning with "PATH:LINE:" or, in the binary part of a file, "PATH: in byte N:": the file can't
///                    be read or is malformed, is of another version, or has elements other than points, lines,
///                    triangles, quadrangles, tetrahedra, hexahedra, prisms and pyramids, straight or curved
/// Source: Geuzaine, Remacle, "Gmsh Reference Manual", MSH file format, 4.1.
[[nodiscard]] graph::Mesh read_gmsh(const std::string& path);

}  // namespace plait::io
