#include "plait/io/vtk.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdint>
#include <cstring>
#include <span>

#include <fmt/format.h>

#include "plait/base/error.hpp"
#include "plait/io/byte_order.hpp"
#include "plait/io/output_file.hpp"
#include "plait/io/slab.hpp"
#include "plait/layout/text.hpp"
#include "plait/mpi/agreed.hpp"

namespace plait::io {

namespace {

constexpr std::string_view byte_order = machine_is_big_endian ? "BigEndian" : "LittleEndian";

// x first, as VTK counts; axes that the array does not have have one cell or point.
std::string xml_before_data(DType dtype, const ImageGrid& grid, std::string_view name) {
  const auto extents = grid.extents.list();
  std::string extent, origin, spacing;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    const bool is_there = axis < extents.size();
    const std::size_t own = is_there ? extents.size() - 1 - axis : 0;
    const char* const gap = axis == 0 ? "" : " ";
    const Index last = is_there ? extents[own] - (grid.has_cells ? 0 : 1) : grid.has_cells ? 1 : 0;
    extent += fmt::format("{}0 {}", gap, last);
    origin += fmt::format("{}{}", gap, is_there ? grid.origin[own] : 0.0);
    spacing += fmt::format("{}{}", gap, is_there ? grid.spacing[own] : 1.0);
  }
  const std::string_view data = grid.has_cells ? "CellData" : "PointData";
  return fmt::format(
      R"(<?xml version="1.0"?>
<VTKFile type="ImageData" version="1.0" byte_order="{}" header_type="UInt64">
  <ImageData WholeExtent="{}" Origin="{}" Spacing="{}">
    <Piece Extent="{}">
      <{} Scalars="{}">
        <DataArray type="Float{}" Name="{}" format="appended" offset="0"/>
      </{}>
    </Piece>
  </ImageData>
  <AppendedData encoding="raw">
   _)",
      byte_order, extent, origin, spacing, extent, data, name, 8 * bytes(dtype), name, data);
}

constexpr std::string_view xml_after_data = "\n  </AppendedData>\n</VTKFile>\n";

}  // namespace

bool is_vti_name(std::string_view path) {
  constexpr std::string_view ending = ".vti";
  if (path.size() <= ending.size()) return false;
  const std::string_view last = path.substr(path.size() - ending.size());
  return std::ranges::equal(last, ending, [](unsigned char a, char b) { return std::tolower(a) == b; });
}

template <class T>
void write_vti(mpi::Context& context, const std::string& path, const layout::DistributedMatrix<T>& slab,
               const ImageGrid& grid, std::string_view name, const Progress& progress) {
  const layout::Layout& layout = slab.layout();
  const Index data_bytes = layout::elements(layout.shape()) * Index{sizeof(T)};
  const std::string before = mpi::agreed(context, [&] {
    const auto wanted = grid.extents.as_matrix(StorageOrder::row_major);
    if (layout != slab_layout(wanted, StorageOrder::row_major, context.size()) || slab.rank() != context.rank()) {
      throw ArgumentError(fmt::format("slab is distributed as {}; expected rows@{} of {} stored by rows",
                                      layout::describe(layout), context.size(), layout::to_string(wanted)));
    }
    std::string text = xml_before_data(dtype_of<T>(), grid, name);
    const auto count = static_cast<std::uint64_t>(data_bytes);
    text.resize(text.size() + sizeof count);
    std::memcpy(text.data() + text.size() - sizeof count, &count, sizeof count);
    return text;
  });
  const Index begin = std::ssize(before);
  OutputFile file(context, path, begin + data_bytes + std::ssize(xml_after_data));
  mpi::agreed(context, [&] {
    if (context.rank() == 0) {
      file.write_at(0, std::as_bytes(std::span(before)));
      file.write_at(begin + data_bytes, std::as_bytes(std::span(xml_after_data)));
    }
    const Index offset = begin + elements_before(layout, context.rank()) * Index{sizeof(T)};
    write_lines(file.file(), offset, lines_of(slab.const_tiles()[0]), progress);
  });
  file.commit();
}

template void write_vti(mpi::Context&, const std::string&, const layout::DistributedMatrix<float>&, const ImageGrid&,
                        std::string_view, const Progress&);
template void write_vti(mpi::Context&, const std::string&, const layout::DistributedMatrix<double>&, const ImageGrid&,
                        std::string_view, const Progress&);

AsideFile write_vtu_aside(const std::string& path, const graph::Mesh& mesh, std::string_view name,
                          std::span<const int> values) {
  constexpr std::array<std::uint8_t, 8> vtk_types{1, 3, 5, 9, 10, 12, 13, 14};
  std::vector<std::uint8_t> types;
  for (const graph::CellKind kind : mesh.kinds) types.push_back(vtk_types[static_cast<std::size_t>(kind)]);
  const auto bytes = [](const auto& numbers) { return std::as_bytes(std::span(numbers)); };
  const std::array<std::span<const std::byte>, 5> pieces{
      bytes(mesh.places), bytes(mesh.corners), bytes(mesh.offsets).subspan(sizeof(Index)), bytes(types), bytes(values)};
  std::array<std::uint64_t, pieces.size()> sizes{};
  std::array<Index, pieces.size() + 1> offsets{};
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    sizes[i] = pieces[i].size();
    offsets[i + 1] = offsets[i] + std::ssize(pieces[i]) + Index{sizeof sizes[i]};
  }
  const std::string before = fmt::format(
      R"(<?xml version="1.0"?>
<VTKFile type="UnstructuredGrid" version="1.0" byte_order="{}" header_type="UInt64">
  <UnstructuredGrid>
    <Piece NumberOfPoints="{}" NumberOfCells="{}">
      <Points>
        <DataArray type="Float64" NumberOfComponents="3" format="appended" offset="{}"/>
      </Points>
      <Cells>
        <DataArray type="Int32" Name="connectivity" format="appended" offset="{}"/>
        <DataArray type="Int64" Name="offsets" format="appended" offset="{}"/>
        <DataArray type="UInt8" Name="types" format="appended" offset="{}"/>
      </Cells>
      <CellData Scalars="{}">
        <DataArray type="Int32" Name="{}" format="appended" offset="{}"/>
      </CellData>
    </Piece>
  </UnstructuredGrid>
  <AppendedData encoding="raw">
   _)",
      byte_order, mesh.places.count() / 3, mesh.cells(), offsets[0], offsets[1], offsets[2], offsets[3], name, name,
      offsets[4]);
  const Index begin = std::ssize(before);
  AsideFile file = AsideFile::create(path, begin + offsets.back() + std::ssize(xml_after_data));
  file.write_at(0, std::as_bytes(std::span(before)));
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    file.write_at(begin + offsets[i], std::as_bytes(std::span(&sizes[i], 1)));
    file.write_at(begin + offsets[i] + Index{sizeof sizes[i]}, pieces[i]);
  }
  file.write_at(begin + offsets.back(), std::as_bytes(std::span(xml_after_data)));
  file.sync();
  file.close();
  return file;
}

}  // namespace plait::io
