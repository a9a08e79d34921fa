#include "cli/host/layouts.hpp"

#include <filesystem>
#include <fstream>
#include <limits>
#include <optional>
#include <regex>
#include <set>
#include <system_error>

#include "plait/base/error.hpp"
#include "plait/io/file.hpp"
#include "plait/io/file_kind.hpp"
#include "plait/io/npy/npy.hpp"
#include "plait/io/rank_zero.hpp"
#include "plait/io/text/text_file.hpp"
#include "plait/layout/text.hpp"
#include "plait/mpi/agreed.hpp"

#include "cli/host/text.hpp"
#include "cli/host/values.hpp"

namespace plait::cli {

namespace {

using io::shown;
using nlohmann::json;

/// Errors that begin with the path of the file.
class Reader {
 public:
  Reader(std::string_view text, const std::string& path)
      : path_(path), value_(io::parse_strictly(text, [this](const std::string& what) { fail(what); })) {
    if (!value_.is_object())
      fail(fmt::format("is {}, expected an object with row_splits, column_splits and owners", value_.type_name()));
    for (const auto& [key, value] : value_.items()) {
      if (key != "row_splits" && key != "column_splits" && key != "owners" && key != "storage") {
        fail(fmt::format("has the key {}, expected row_splits, column_splits, owners and perhaps storage",
                         shown(json(key))));
      }
    }
  }

  [[noreturn]] void fail(std::string_view what) const { throw LayoutError(fmt::format("{}: {}", path_, what)); }

  [[nodiscard]] std::vector<Index> splits(const char* key) const {
    std::vector<Index> result;
    for (const json& split : array(value_, key)) result.push_back(whole_number(split, key, most));
    return result;
  }

  [[nodiscard]] std::vector<int> owners(std::size_t rows, std::size_t columns) const {
    const json& table = array(value_, "owners");
    if (table.size() != rows) fail(fmt::format("owners has {} rows, expected {} for row_splits", table.size(), rows));
    std::vector<int> result;
    for (const json& row : table) {
      if (!row.is_array() || row.size() != columns) {
        fail(fmt::format("owners has a row that is {}, expected {} ranks for column_splits", shown(row), columns));
      }
      for (const json& rank : row) result.push_back(static_cast<int>(whole_number(rank, "owners", most_ranks)));
    }
    return result;
  }

  [[nodiscard]] StorageOrder storage() const {
    if (!value_.contains("storage")) return StorageOrder::column_major;
    const json& storage = value_["storage"];
    if (storage != "row" && storage != "col")
      fail(fmt::format("storage is {}, expected \"row\" or \"col\"", shown(storage)));
    return storage == "row" ? StorageOrder::row_major : StorageOrder::column_major;
  }

 private:
  static constexpr Index most = std::numeric_limits<Index>::max();
  static constexpr Index most_ranks = std::numeric_limits<int>::max();

  [[nodiscard]] const json& array(const json& object, const char* key) const {
    if (!object.contains(key)) fail(fmt::format("has no {}, expected row_splits, column_splits and owners", key));
    if (!object[key].is_array()) fail(fmt::format("{} is {}, expected an array", key, shown(object[key])));
    return object[key];
  }

  [[nodiscard]] Index whole_number(const json& value, const char* key, Index highest) const {
    const bool fits = value.is_number_unsigned() && value.get<std::uint64_t>() <= static_cast<std::uint64_t>(highest);
    if (!fits) fail(fmt::format("{} holds {}, expected a whole number from 0 to {}", key, shown(value), highest));
    return value.get<Index>();
  }

  const std::string& path_;
  json value_;
};

constexpr Index longest_file = Index{1} << 30;
constexpr std::string_view expected_text = "a layout in JSON";

/// Does `f`, whose errors are to begin with the option that has the layout.
template <class F>
auto of_option(std::string_view option, F&& f) {
  try {
    return std::forward<F>(f)();
  } catch (const Error& error) {
    throw Error(error.kind(), fmt::format("{}: {}", option, error.what()));
  }
}

}  // namespace

layout::Layout parse_custom_layout(std::string_view text, const layout::LayoutSpec& spec, layout::Shape shape) {
  const Reader reader(text, spec.path);
  std::vector<Index> row_splits = reader.splits("row_splits");
  std::vector<Index> column_splits = reader.splits("column_splits");
  if (row_splits.size() < 2 || column_splits.size() < 2) {
    reader.fail("row_splits and column_splits have each at least two numbers: where the first tile begins and ends");
  }
  std::vector<int> owners = reader.owners(row_splits.size() - 1, column_splits.size() - 1);
  const StorageOrder storage = spec.storage.value_or(reader.storage());
  const layout::Shape expected = spec.within.value_or(shape);
  const layout::Shape described{row_splits.back(), column_splits.back()};
  if (described != expected) {
    reader.fail(fmt::format("describes a matrix of {}, expected {}", layout::to_string(described),
                            layout::to_string(expected)));
  }
  try {
    auto whole = layout::Layout::custom(std::move(row_splits), std::move(column_splits), std::move(owners), storage);
    return spec.within ? whole.submatrix(spec.row, spec.column, shape) : whole;
  } catch (const Error& error) {
    reader.fail(error.what());
  }
}

std::string layout_help() {
  return R"(Layouts (LAYOUT above):
  rows@4                       whole rows, cut evenly over 4 ranks
  cols@4                       whole columns
  blocks@2x3                   one block a rank, on a process grid of 2 x 3 ranks
  block-cyclic:32x128@2x3      blocks of 32 x 128 elements dealt in turn to a grid of 2 x 3 ranks (as in ScaLAPACK)
  custom:FILE.json             any tiles of any ranks: {"row_splits": [0,4,10], "column_splits": [0,8],
                               "owners": [[1],[0]], "storage": "row"}, ranks by rows of tiles; storage may be left out
and after that, in any order, each at most once:
  ,order=col                   ranks are numbered down the columns of the grid (else along its rows)
  ,src=R,C                     row and column of the grid that own the first block; block-cyclic only
  ,storage=row|col             which neighbours lie side by side in memory (else row for rows@, col for all others)
  ,ranks=5,0,3,...             the ranks themselves, along the rows of the grid, any of them several times;
                               not together with order=
  ,within=RxC ,at=I,J          the matrix is the part that begins at (I, J) of an R x C matrix with that layout
)";
}

layout::Layout layout_of_option(mpi::Context& context, std::string_view option, const layout::LayoutSpec& spec,
                                layout::Shape shape) {
  const bool in_file = spec.kind == layout::LayoutKind::custom;
  const std::string text = of_option(
      option, [&] { return in_file ? io::read_text(context, spec.path, longest_file, expected_text) : std::string(); });
  const auto make = [&] {
    auto layout = in_file ? parse_custom_layout(text, spec, shape) : spec.on(shape);
    if (layout.ranks() > context.size()) {
      const bool alone = context.size() == 1;
      throw LayoutError(fmt::format("{} needs {} ranks, there {} {}{}", spec.text(), layout.ranks(),
                                    alone ? "is" : "are", context.size(),
                                    alone ? fmt::format("; start it with mpirun -n {}", layout.ranks()) : ""));
    }
    return layout;
  };
  return mpi::agreed(context, [&] { return of_option(option, make); });
}

layout::Layout layout_of_option(std::string_view option, const layout::LayoutSpec& spec, layout::Shape shape) {
  if (spec.kind == layout::LayoutKind::custom) {
    return of_option(option, [&] {
      return parse_custom_layout(io::read_text(spec.path, longest_file, expected_text), spec, shape);
    });
  }
  try {
    return spec.on(shape);
  } catch (const Error& error) {
    throw UsageError("{}: {}", option, error.what());
  }
}

void declare_layout_file(JobFiles& files, const char* option, const layout::LayoutSpec& spec) {
  if (!spec.path.empty()) files.also_read.push_back({spec.path, fmt::format("the file of {}", option)});
}

namespace fs = std::filesystem;

namespace {

using nlohmann::ordered_json;

/// Folders that were made for a job, and that a job that fails leaves no trace of: unless they are kept, those of them
/// that are empty are removed at the end.
class MadeFolders {
 public:
  /// Looks which folders on the way to this one, itself included, are missing. Processes that are going to make it
  /// together all look before any of them makes it, so that any of them removes it.
  ///
  /// \throws FileError  beginning with `folder`: its name is taken by what is no folder
  explicit MadeFolders(const std::string& folder) : folder_(folder) {
    std::error_code failure;
    const auto status = fs::status(folder, failure);
    if (!fs::status_known(status)) throw io::system_error(folder, "can't be made a folder", failure.value());
    was_there_ = fs::is_directory(status);
    if (was_there_) return;
    if (fs::exists(status)) throw FileError(fmt::format("{}: is no folder", folder));
    if (fs::is_symlink(fs::symlink_status(folder, failure))) {
      throw FileError(fmt::format("{}: is a symbolic link to nothing; expected a folder, or nothing", folder));
    }
    for (fs::path at = folder; !at.empty() && !fs::exists(at, failure); at = at.parent_path()) missing_.push_back(at);
  }
  MadeFolders(const MadeFolders&) = delete;
  MadeFolders& operator=(const MadeFolders&) = delete;
  ~MadeFolders() {
    std::error_code not_empty;
    for (const fs::path& folder : missing_) {
      if (fs::is_directory(folder, not_empty)) fs::remove(folder, not_empty);
    }
  }

  /// \throws FileError  beginning with the folder
  void make() {
    std::error_code failure;
    fs::create_directories(folder_, failure);
    if (failure) throw io::system_error(folder_, "can't be made a folder", failure.value());
  }
  void keep() noexcept { missing_.clear(); }

  /// Whether the folder was there before.
  [[nodiscard]] bool was_there() const noexcept { return was_there_; }

 private:
  std::string folder_;
  std::vector<fs::path> missing_;  // the innermost first
  bool was_there_ = false;
};

constexpr const char* description_name = "layout.json";

std::string file_name(int rank, std::size_t tile, std::size_t tiles) {
  return tiles == 1 ? fmt::format("rank-{:04}.npy", rank) : fmt::format("rank-{:04}-tile-{:04}.npy", rank, tile);
}

std::string path_in(const std::string& folder, const std::string& name) { return (fs::path(folder) / name).string(); }

// Of the matrix that the folder holds now, as its layout.json tells: names that a matrix could have given its files.
// Another program's layout.json has none.
std::set<std::string> listed_parts(const std::string& folder) {
  static const std::regex part("rank-[0-9]{4,}(-tile-[0-9]{4,})?\\.npy");
  constexpr std::size_t longest_name = 255;  // of a file; the library's matching takes stack for every character
  std::ifstream file(description_in(folder));
  const auto description = ordered_json::parse(file, nullptr, false);
  std::set<std::string> names;
  if (!description.is_object() || !description.contains("files")) return names;
  for (const auto& entry : description["files"]) {
    if (!entry.is_object() || !entry.contains("file") || !entry["file"].is_string()) continue;
    auto name = entry["file"].get<std::string>();
    if (name.size() <= longest_name && std::regex_match(name, part)) names.insert(std::move(name));
  }
  return names;
}

void remove_file(const std::string& path) {
  std::error_code failure;
  fs::remove(path, failure);
  if (failure) throw io::system_error(path, "can't be removed", failure.value());
}

bool is_directory(const std::string& path) {
  std::error_code failure;
  return fs::is_directory(fs::symlink_status(path, failure));
}

std::set<std::string> file_names(const layout::Layout& layout) {
  std::set<std::string> names;
  for (int rank = 0; rank < layout.ranks(); ++rank) {
    const std::size_t tiles = layout.tiles_of(rank).size();
    for (std::size_t i = 0; i < tiles; ++i) names.insert(file_name(rank, i, tiles));
  }
  return names;
}

void expect_not_among(const std::set<std::string>& names, const std::string& folder, const NamedFile& file) {
  for (const std::string& name : names) {
    std::error_code failure;
    if (!fs::equivalent(path_in(folder, name), io::file_of(file.path), failure)) continue;
    throw FileError(fmt::format("{}: {} would be replaced or removed, but it is {}; expected another folder", folder,
                                path_in(folder, name), file.role));
  }
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

void expect_writable_folder(mpi::Context& context, const std::string& folder, const layout::Layout& layout,
                            const std::vector<NamedFile>& kept) {
  io::on_rank_zero(context, [&] {
    MadeFolders made(folder);
    made.make();
    io::AsideFile::try_out(description_in(folder));
    if (!made.was_there()) return;
    std::set<std::string> names = listed_parts(folder);
    names.merge(file_names(layout));
    names.insert(description_name);
    for (const NamedFile& file : kept) expect_not_among(names, folder, file);
  });
  mpi::agreed(context, [&] {
    std::error_code failure;
    if (context.rank() >= layout.ranks() || !fs::is_directory(folder, failure)) return;
    const std::size_t tiles = layout.tiles_of(context.rank()).size();
    for (std::size_t i = 0; i < tiles; ++i) {
      io::AsideFile::expect_replaceable(path_in(folder, file_name(context.rank(), i, tiles)));
    }
  });
}

std::string description_in(const std::string& folder) { return path_in(folder, description_name); }

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
  const auto spec = layout::spec_of(layout);
  const ordered_json description{{"shape", {layout.shape().rows, layout.shape().columns}},
                                 {"dtype", io::name(dtype)},
                                 {"layout", spec ? ordered_json(spec->text()) : ordered_json()},
                                 {"storage", layout.storage() == StorageOrder::row_major ? "row" : "col"},
                                 {"row_parts", ranges_of_parts(layout.rows())},
                                 {"column_parts", ranges_of_parts(layout.columns())},
                                 {"files", std::move(files)}};
  return json_line(description);
}

template <io::FileElement T>
void write_folder(mpi::Context& context, const std::string& folder, const layout::DistributedMatrix<T>& matrix,
                  const io::Progress& progress) {
  std::optional<MadeFolders> made;  // outlives the files in it
  std::vector<io::AsideFile> parts;
  std::optional<io::AsideFile> description;
  mpi::agreed(context, [&] { made.emplace(folder); });
  mpi::agreed(context, [&] { made->make(); });
  mpi::agreed(context, [&] {
    const auto tiles = matrix.const_tiles();
    Index done = 0;
    for (std::size_t i = 0; i < tiles.size(); ++i) {
      const auto name = file_name(context.rank(), i, tiles.size());
      parts.push_back(io::write_npy_aside(path_in(folder, name), tiles[i], [&](Index bytes) {
        if (progress) progress(done + bytes);
      }));
      done += tiles[i].rows() * tiles[i].columns() * Index{sizeof(T)};
    }
    if (context.rank() == 0) {
      description.emplace(text_aside(description_in(folder), folder_description(matrix.layout(), io::dtype_of<T>())));
    }
  });
  // All is on the disk. From here on the folder is no longer what it was, and has no layout.json until it is complete.
  made->keep();
  std::set<std::string> outdated;
  io::on_rank_zero(context, [&] {
    outdated = listed_parts(folder);
    for (const std::string& name : file_names(matrix.layout())) outdated.erase(name);
    remove_file(description->target());
  });
  mpi::agreed(context, [&] {
    for (io::AsideFile& part : parts) part.publish();
  });
  io::on_rank_zero(context, [&] {
    for (const std::string& name : outdated) {
      if (const auto path = path_in(folder, name); !is_directory(path)) remove_file(path);
    }
    description->publish();
  });
}

#define PLAIT_INSTANTIATE(T)                                                                         \
  template void write_folder(mpi::Context&, const std::string&, const layout::DistributedMatrix<T>&, \
                             const io::Progress&);
PLAIT_FOR_EACH_DTYPE(PLAIT_INSTANTIATE)
#undef PLAIT_INSTANTIATE

}  // namespace plait::cli
