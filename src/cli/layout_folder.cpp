#include "cli/layout_folder.hpp"

#include <filesystem>
#include <regex>
#include <set>
#include <span>
#include <system_error>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "plait/base/error.hpp"
#include "plait/io/aside_file.hpp"
#include "plait/io/file.hpp"
#include "plait/io/npy.hpp"
#include "plait/layout/text.hpp"
#include "plait/mpi/agreed.hpp"

#include "cli/json_line.hpp"

namespace plait::cli {

namespace {

namespace fs = std::filesystem;
using nlohmann::ordered_json;

std::string file_name(int rank, std::size_t tile, std::size_t tiles) {
  return tiles == 1 ? fmt::format("rank-{:04}.npy", rank) : fmt::format("rank-{:04}-tile-{:04}.npy", rank, tile);
}

std::string path_in(const std::string& folder, const std::string& name) { return (fs::path(folder) / name).string(); }

void make_folder(const std::string& folder) {
  std::error_code failure;
  fs::create_directories(folder, failure);
  if (failure) throw io::system_error(folder, "can't be made a folder", failure.value());
  if (!fs::is_directory(folder)) throw FileError(fmt::format("{}: is no folder", folder));
}

void remove_file(const std::string& path) {
  std::error_code failure;
  fs::remove(path, failure);
  if (failure) throw io::system_error(path, "can't be replaced", failure.value());
}

// Of an earlier matrix that more ranks held, or ranks with more tiles.
void remove_all_parts_but(const std::string& folder, const std::set<std::string>& kept) {
  static const std::regex part("rank-[0-9]{4,}(-tile-[0-9]{4,})?\\.npy");
  std::vector<std::string> left;
  for (const auto& entry : fs::directory_iterator(folder)) {
    const std::string name = entry.path().filename().string();
    if (std::regex_match(name, part) && !kept.contains(name)) left.push_back(name);
  }
  for (const std::string& name : left) remove_file(path_in(folder, name));
}

std::set<std::string> file_names(const layout::Layout& layout) {
  std::set<std::string> names;
  for (int rank = 0; rank < layout.ranks(); ++rank) {
    const std::size_t tiles = layout.tiles_of(rank).size();
    for (std::size_t i = 0; i < tiles; ++i) names.insert(file_name(rank, i, tiles));
  }
  return names;
}

void write_text(const std::string& path, const std::string& text) {
  auto file = io::AsideFile::create(path, static_cast<Index>(text.size()));
  file.write_at(0, std::as_bytes(std::span(text)));
  file.sync();
  file.publish();
}

ordered_json ranges_of_parts(const layout::Axis& axis) {
  auto parts = ordered_json::array();
  for (Index part = 0; part < axis.parts(); ++part) {
    auto ranges = ordered_json::array();
    axis.for_each_segment(part, [&](const layout::Segment& segment) {
      ranges.push_back({segment.global, segment.global + segment.length});
    });
    parts.push_back(std::move(ranges));
  }
  return parts;
}

}  // namespace

void expect_writable_folder(const std::string& folder) {
  if (!fs::exists(folder)) return;
  if (!fs::is_directory(folder)) throw FileError(fmt::format("{}: is no folder", folder));
  static_cast<void>(io::AsideFile::create(path_in(folder, "layout.json"), 0));
}

std::string folder_description(const layout::Layout& layout, io::DType dtype) {
  ordered_json files = ordered_json::array();
  for (int rank = 0; rank < layout.ranks(); ++rank) {
    const auto tiles = layout.tiles_of(rank);
    for (std::size_t i = 0; i < tiles.size(); ++i) {
      files.push_back({{"file", file_name(rank, i, tiles.size())},
                       {"rank", rank},
                       {"row_part", tiles[i].position.row},
                       {"column_part", tiles[i].position.column},
                       {"shape", {tiles[i].rows, tiles[i].columns}}});
    }
  }
  const ordered_json description{{"shape", {layout.shape().rows, layout.shape().columns}},
                                 {"dtype", io::name(dtype)},
                                 {"layout", layout::describe(layout)},
                                 {"storage", layout.storage() == StorageOrder::row_major ? "row" : "col"},
                                 {"row_parts", ranges_of_parts(layout.rows())},
                                 {"column_parts", ranges_of_parts(layout.columns())},
                                 {"files", std::move(files)}};
  return json_line(description);
}

template <io::FileElement T>
void write_folder(mpi::Context& context, const std::string& folder, const layout::DistributedMatrix<T>& matrix,
                  const io::Progress& progress) {
  const std::string description = path_in(folder, "layout.json");
  mpi::agreed(context, [&] {
    make_folder(folder);
    if (context.rank() == 0) remove_file(description);
  });
  mpi::agreed(context, [&] {
    const auto tiles = matrix.const_tiles();
    Index done = 0;
    for (std::size_t i = 0; i < tiles.size(); ++i) {
      const auto name = file_name(context.rank(), i, tiles.size());
      io::write_npy_local(path_in(folder, name), tiles[i], [&](Index bytes) {
        if (progress) progress(done + bytes);
      });
      done += tiles[i].rows() * tiles[i].columns() * Index{sizeof(T)};
    }
  });
  mpi::agreed(context, [&] {
    if (context.rank() != 0) return;
    remove_all_parts_but(folder, file_names(matrix.layout()));
    write_text(description, folder_description(matrix.layout(), io::dtype_of<T>()));
  });
}

#define PLAIT_INSTANTIATE(T)                                                                         \
  template void write_folder(mpi::Context&, const std::string&, const layout::DistributedMatrix<T>&, \
                             const io::Progress&);
PLAIT_FOR_EACH_DTYPE(PLAIT_INSTANTIATE)
#undef PLAIT_INSTANTIATE

}  // namespace plait::cli
