#pragma once

#include "plait/io/vtk.hpp"
#include "plait/layout/box.hpp"

#include "cli/host/job.hpp"

/// Arrays of one to three dimensions between files and boxes. Files are read and written in slices along the slowest
/// axis, so that with fewer slices than ranks some read nothing; from there values move to whom they belong. All are
/// collective.
namespace plait::cli {

/// The slices of an array of so many dimensions that ranks have of a file of this order.
[[nodiscard]] layout::BoxPartition slices_of(const layout::Box& whole, int dimensions, StorageOrder order, int ranks);

/// This rank's box of the array in a file of real numbers in either order.
/// \pre  partition.whole() is the box of the array's extents
/// \throws Error  on every rank
[[nodiscard]] std::vector<double> read_box(Work& work, const InputFile& file, const layout::BoxPartition& partition);
/// All of a small array, in C order, on every rank.
[[nodiscard]] std::vector<double> read_whole(Work& work, const InputFile& file);

/// Writes a field as VTK's image data where the name is that of such a file, else as an array in C order.
/// \param name  of the values, in VTK's file
/// \throws Error  on every rank
void write_box(Work& work, const std::string& path, const io::ImageGrid& grid, const std::string& name,
               const layout::BoxPartition& partition, std::span<const double> values);

}  // namespace plait::cli
