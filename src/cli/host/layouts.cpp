#include "cli/host/layouts.hpp"

#include <limits>

#include "plait/io/text/strict_json.hpp"
#include "plait/io/text/text_file.hpp"
#include "plait/mpi/agreed.hpp"

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

}  // namespace plait::cli
