#pragma once

#include <span>
#include <string>
#include <vector>

#include "plait/base/index.hpp"
#include "plait/graph/graph.hpp"
#include "plait/io/aside_file.hpp"

/// Graphs in files, and the parts that their vertices are in. One process reads and writes these.
namespace plait::io {

/// What to do with an edge that is stored at one of its ends only, and with self loops.
enum class Asymmetry : unsigned char { refuse, symmetrise };

/// The graph in a file: METIS' format, or a matrix in Matrix Market's, told by its first bytes.
///
/// METIS': a line "vertices edges [fmt [constraints]]", then one for each vertex: its size if fmt is 1xx, its weight if
/// it is x1x, its neighbours, counted from 1, each with the weight of the edge if it is xx1. Lines that begin with %
/// are comments; one that is empty is a vertex without neighbours.
///
/// Of a matrix, square and in the coordinate format, the graph has an edge for each entry off the diagonal, whatever
/// its value; weights and sizes are 1.
///
/// \throws FileError  beginning with "PATH:LINE:" or "PATH:": the file can't be read or is malformed, has several
///                    constraints, more vertices than `most_vertices`, weights out of range or that add up to more than
///                    `most_weight`; or, unless it is symmetrised, edges that are there in one direction only, twice
///                    or from a vertex to itself
/// Source: Karypis, "METIS: A Software Package for Partitioning Unstructured Graphs", 5.1.0, section 4.1.1.
[[nodiscard]] graph::Graph read_graph(const std::string& path, Asymmetry asymmetry = Asymmetry::refuse);

/// The parts of vertices, one a line, as METIS writes and reads them, or in a vector of a .npy file.
///
/// \throws FileError  the file can't be read, or holds anything but `vertices` numbers from 0 to `most_parts` - 1
inline constexpr Index most_parts = (Index{1} << 31) - 1;
[[nodiscard]] std::vector<int> read_parts(const std::string& path, Index vertices);

/// Writes them aside: as a .npy vector of i32 if the name ends in .npy, as text otherwise.
///
/// \throws FileError  the file can't be written
[[nodiscard]] AsideFile write_parts_aside(const std::string& path, std::span<const int> parts);

}  // namespace plait::io
