#include "cli/scaling/marginals.hpp"

#include "cli/scaling/matrices.hpp"

namespace plait::cli {

MarginalFiles::Side MarginalFiles::side(mpi::Context& context, const char* option, const std::string& path,
                                        Index length) {
  Side side{option, {{}, path}, length};
  if (path.empty()) return side;
  const layout::Shape shape = io::read_npy_header(context, path, io::columns).shape;
  side.is_of_all = shape.rows == length && shape.columns > 1;
  if (side.is_of_all) side.file.describe(context);
  mpi::agreed(context, [&] {
    if (side.is_of_all) return expect_real(side.file);
    const std::string_view what = std::string_view(option).substr(2);
    if (shape.rows != 1 && shape.columns != 1) {
      throw ArgumentError(
          fmt::format("{0}: {1} is {2}, expected a vector of {3} elements, or a matrix of {3} rows with a column for "
                      "each problem, as there are {3} {4}",
                      option, path, layout::to_string(shape), length, what));
    }
    if (layout::elements(shape) == length) return;
    throw ArgumentError(fmt::format("{}: {} has {} elements, expected {}, as many as there are {}", option, path,
                                    layout::elements(shape), length, what));
  });
  return side;
}

MarginalFiles::MarginalFiles(mpi::Context& context, const ScalingOptions& options, layout::Shape matrix)
    : is_balanced_(options.how.rho.is_balanced()) {
  if (!options.images.empty()) {
    const auto image = [](const InputFile& file) -> Side {
      return {"--images", file, layout::elements(file.shape), false, true};
    };
    rows_ = image(options.images[0]);
    columns_ = image(options.images[1]);
    return;
  }
  rows_ = side(context, "--rows", options.rows, matrix.rows);
  columns_ = side(context, "--columns", options.columns, matrix.columns);
  problems_ = std::max(problems_of(rows_), problems_of(columns_));
  mpi::agreed(context, [&] {
    const Index of_rows = problems_of(rows_);
    const Index of_columns = problems_of(columns_);
    if (of_rows == of_columns || of_rows == 1 || of_columns == 1) return;
    throw ArgumentError(
        fmt::format("--rows: {} has {} columns, a problem each, but {} of --columns has {}, expected as many",
                    options.rows, of_rows, options.columns, of_columns));
  });
}

std::vector<double> MarginalFiles::read_vector(Work& work, const Side& side) const {
  if (!side.is_image) return io::read_npy_vector(work.context, side.file.path);
  return is_balanced_ ? read_shares(work, side.file) : read_all_rows<double>(work, side.file);
}

void MarginalFiles::expect_one_for(const std::string& option, const std::string& expected) const {
  if (problems_ == 1) return;
  throw ArgumentError(fmt::format("{} is given, but the marginals have {} columns, each a problem; expected {}", option,
                                  problems_, expected));
}

void MarginalFiles::expect_one_for_all(const ScalingOptions& options, const std::string& checkpoint) const {
  const std::string expected = "one column, or only files of vectors";
  if (!options.output.empty()) expect_one_for("--output", expected);
  if (!options.start.empty()) expect_one_for("--start", expected);
  if (!checkpoint.empty()) expect_one_for("--checkpoint", expected);
}

void MarginalFiles::read(Work& work, Index own_rows) {
  mpi::Context& context = work.context;
  LostEntries none;  // of doubles
  if (rows_.is_of_all) {
    const auto own = read_rows<double>(work, rows_.file, none);
    const auto& tile = own.const_tiles()[0];
    of_own_rows_ = mpi::agreed(context, [&] { return columns_in(tile.data(), tile.rows(), tile.columns()); });
  } else if (rows_.file) {
    of_all_rows_ = read_vector(work, rows_);
    const auto first = of_all_rows_.begin() + mpi::sum_below(context.comm(), own_rows);
    of_own_rows_.emplace_back(first, first + own_rows);
  }
  if (columns_.is_of_all) {
    const auto all = read_all_rows<double>(work, columns_.file);
    of_columns_ = mpi::agreed(context, [&] { return columns_in(all.data(), columns_.length, problems_); });
  } else if (columns_.file) {
    of_columns_.push_back(read_vector(work, columns_));
  }
}

void MarginalFiles::make_uniform(Index own_rows) {
  if (!of_own_rows_.empty() || !of_columns_.empty()) return;
  const auto of = [](Index count, Index all) {
    return std::vector<double>(at(count), all > 0 ? 1.0 / static_cast<double>(all) : 0);
  };
  of_own_rows_.push_back(of(own_rows, rows_.length));
  of_columns_.push_back(of(columns_.length, columns_.length));
}

std::vector<sinkhorn::Marginals> MarginalFiles::of_each() const {
  const auto of = [](const Vectors& side, Index k) -> std::span<const double> {
    if (side.empty()) return {};
    return side[side.size() == 1 ? 0 : at(k)];
  };
  std::vector<sinkhorn::Marginals> all;
  for (Index k = 0; k < problems_; ++k) all.push_back({of(of_own_rows_, k), of(of_columns_, k)});
  return all;
}

sinkhorn::Marginals MarginalFiles::of_all_rows() const {
  sinkhorn::Marginals marginals = of_each()[0];
  marginals.rows = of_all_rows_;
  return marginals;
}

}  // namespace plait::cli
