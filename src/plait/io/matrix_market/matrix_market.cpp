#include "plait/io/matrix_market/matrix_market.hpp"

#include <algorithm>
#include <numeric>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "plait/base/error.hpp"
#include "plait/io/file.hpp"
#include "plait/io/matrix_market/entry_exchange.hpp"
#include "plait/io/rank_zero.hpp"
#include "plait/io/slab.hpp"
#include "plait/io/text/text_lines.hpp"
#include "plait/layout/axis.hpp"
#include "plait/mpi/agreed.hpp"
#include "plait/mpi/collectives.hpp"

namespace plait::io {

namespace {

// What a rank reads of the file: the lines that begin in [begin, end).
struct Share {
  Index first;  // where the first entry line of the file begins
  Index begin;
  Index end;

  [[nodiscard]] TextLines lines(const File& file) const { return {file, first, begin, end}; }
};

Share share_of(const mpi::Context& context, Index data_offset, Index file_bytes) {
  const Index bytes = std::max(Index{0}, file_bytes - data_offset);
  Share share{data_offset, data_offset, data_offset};
  layout::Axis::even(bytes, context.size()).for_each_segment(context.rank(), [&](const layout::Segment& segment) {
    share.begin = data_offset + segment.global;
    share.end = share.begin + segment.length;
  });
  return share;
}

struct Counts {
  Index lines = 0;
  Index entries = 0;
};

Counts count(TextLines lines) {
  Counts counts;
  while (const auto line = lines.next()) {
    ++counts.lines;
    if (MatrixMarketEntries<double>::has_entry(*line)) ++counts.entries;
  }
  return counts;
}

void expect_announced(Index found, const MatrixMarketHeader& header, const std::string& path) {
  if (found == header.entries) return;
  const bool array = header.format == MatrixMarketFormat::array;
  throw FileError(
      fmt::format("{}: the number of lines with entries is {}; expected {}, one for each of the {} on line {}", path,
                  found, header.entries, array ? "elements of the array" : "entries announced", header.size_line));
}

// The entries of this rank, while they are gathered: by rows, so that to the exchange it is the transpose.
template <class T>
class Gathered {
 public:
  explicit Gathered(std::vector<PlacedEntry<T>>& entries) : entries_(&entries) {}

  [[nodiscard]] static MatrixEntry<T> oriented(const MatrixEntry<T>& entry) {
    return {entry.column, entry.row, entry.value};
  }
  void put(Index place, T value) { entries_->push_back({place, value}); }

 private:
  std::vector<PlacedEntry<T>>* entries_;
};

// The elements of this rank, while they are put in.
template <class T>
class Slab {
 public:
  [[nodiscard]] static const MatrixEntry<T>& oriented(const MatrixEntry<T>& entry) { return entry; }

  Slab(layout::DistributedMatrix<T>& matrix, bool additive, std::string path)
      : matrix_(matrix), elements_(matrix.tiles()[0].data()), additive_(additive), path_(std::move(path)) {
    std::fill_n(elements_, matrix.tiles()[0].span(), T{});
  }

  void put(Index place, T value) {
    // An array names every element once, and 0 + (-0) would lose a sign.
    if (!additive_) {
      elements_[place] = value;
    } else if constexpr (std::same_as<T, Index>) {
      if (__builtin_add_overflow(elements_[place], value, &elements_[place])) fail_sum(place);
    } else {
      elements_[place] += value;
    }
  }

 private:
  [[noreturn]] void fail_sum(Index place) const {
    const auto& tile = matrix_.tiles()[0];
    const Index before = elements_before(matrix_.layout(), matrix_.rank()) + place;
    throw FileError(fmt::format("{}: the entries for row {}, column {} add up to more than 64 bits", path_,
                                before % tile.rows() + 1, before / tile.rows() + 1));
  }

  layout::DistributedMatrix<T>& matrix_;
  T* elements_;
  bool additive_;
  std::string path_;
};

// Parses the lines of this rank and puts every element where it belongs, in rounds of a full outbox.
template <class T, class Sink>
class Reader {
 public:
  Reader(mpi::Context& context, TextLines lines, MatrixMarketEntries<T> entries, EntryExchange<T> exchange, Sink slab)
      : context_(context),
        lines_(std::move(lines)),
        entries_(std::move(entries)),
        exchange_(std::move(exchange)),
        slab_(std::move(slab)) {}

  void run(const Progress& progress) {
    for (bool more = true; more;) {
      const bool done = mpi::agreed(context_, [&] { return parse_round(progress); });
      exchange_.deliver([&](std::span<const PlacedEntry<T>> came) {
        for (const auto& [place, value] : came) slab_.put(place, value);
      });
      more = mpi::all_reduce(context_.comm(), done ? 0 : 1, mpi::Operation::maximum()) == 1;
    }
  }

 private:
  // Whether that was the last of this rank's lines.
  bool parse_round(const Progress& progress) {
    while (!exchange_.full()) {
      const auto line = lines_.next();
      tell(progress, !line.has_value());
      if (!line) return true;
      const auto entry = entries_.read(*line);
      if (!entry) continue;
      pass_on(Sink::oriented(*entry));
      if (const auto mirrored = entries_.mirrored(*entry)) pass_on(Sink::oriented(*mirrored));
    }
    return false;
  }

  void tell(const Progress& progress, bool at_end) {
    const Index done = lines_.bytes_done();
    if (!progress || (!at_end && done - told_ < piece_bytes)) return;
    told_ = done;
    progress(done);
  }

  void pass_on(const MatrixEntry<T>& entry) {
    if (exchange_.is_own(entry)) {
      slab_.put(exchange_.own_place(entry), entry.value);
    } else {
      exchange_.add(entry);
    }
  }

  mpi::Context& context_;
  TextLines lines_;
  MatrixMarketEntries<T> entries_;
  EntryExchange<T> exchange_;
  Sink slab_;
  Index told_ = 0;  // of the bytes done
};

}  // namespace

MatrixMarketHeader read_matrix_market_header_local(const std::string& path) {
  constexpr Index longest_header = Index{64} << 20;  // comments may be long
  const File file = File::open_to_read(path);
  std::vector<char> start(4096);
  while (true) {
    const auto got = static_cast<std::size_t>(file.read_at(0, std::as_writable_bytes(std::span(start))));
    const auto header = parse_matrix_market_header({start.data(), got}, got < start.size(), path);
    if (header) return *header;
    if (static_cast<Index>(start.size()) >= longest_header) {
      throw FileError(
          fmt::format("{}: the first {} bytes have no line with the size of the matrix", path, start.size()));
    }
    start.resize(4 * start.size());
  }
}

MatrixMarketHeader read_matrix_market_header(mpi::Context& context, const std::string& path) {
  return told_by_rank_zero(context, [&] { return read_matrix_market_header_local(path); });
}

namespace {

// Reads all entries and has them where they belong; `make_sink` is called when it is known that the file is sound.
template <class T, class MakeSink>
void read_entries(mpi::Context& context, const std::string& path, const MatrixMarketHeader& header,
                  const layout::Layout& layout, const Progress& progress, MakeSink make_sink) {
  const File file = mpi::agreed(context, [&] {
    expect_dtype(dtype_of<T>(), header.dtype());
    return File::open_to_read(path);
  });
  const Share share = share_of(context, header.data_offset, told_by_rank_zero(context, [&] { return file.size(); }));
  const Counts own = mpi::agreed(context, [&] { return count(share.lines(file)); });
  expect_announced(mpi::all_reduce(context.comm(), own.entries, mpi::Operation::sum()), header, path);
  const Index first_line = header.size_line + 1 + mpi::sum_below(context.comm(), own.lines);
  const Index first_entry = mpi::sum_below(context.comm(), own.entries);
  auto sink = mpi::agreed(context, make_sink);
  auto reader = mpi::agreed(context, [&] {
    return Reader<T, decltype(sink)>(context, share.lines(file),
                                     MatrixMarketEntries<T>(header, path, first_line, first_entry),
                                     EntryExchange<T>(context, layout), std::move(sink));
  });
  reader.run(progress);
}

// Puts the entries of a row in the order of their columns; those of one column in the order in which they came.
template <class T>
void sort_row(std::span<std::uint32_t> columns, std::span<T> values, std::vector<PlacedEntry<T>>& room) {
  if (std::ranges::is_sorted(columns)) return;
  room.clear();
  for (std::size_t k = 0; k < columns.size(); ++k) room.push_back({Index{columns[k]}, values[k]});
  std::ranges::stable_sort(room, {}, &PlacedEntry<T>::place);
  for (std::size_t k = 0; k < columns.size(); ++k) {
    columns[k] = static_cast<std::uint32_t>(room[k].place);
    values[k] = room[k].value;
  }
}

// Adds up entries for the same element, row by row, and closes the gaps.
template <class T>
void add_up_repeated(layout::SparseRows<T>& rows, const std::string& path) {
  std::size_t to = 0;
  Index begin = 0;
  for (Index i = 0; i < rows.rows(); ++i) {
    const Index end = rows.starts[static_cast<std::size_t>(i) + 1];
    const std::size_t first = to;
    for (auto k = static_cast<std::size_t>(begin); k < static_cast<std::size_t>(end); ++k) {
      const std::uint32_t column = rows.columns[k];
      const T value = rows.values[k];
      if (to == first || rows.columns[to - 1] != column) {
        rows.columns[to] = column;
        rows.values[to++] = value;
      } else if constexpr (std::same_as<T, Index>) {
        if (!__builtin_add_overflow(rows.values[to - 1], value, &rows.values[to - 1])) continue;
        throw FileError(fmt::format("{}: the entries for row {}, column {} add up to more than 64 bits", path,
                                    rows.first_row + i + 1, Index{column} + 1));
      } else {
        rows.values[to - 1] += value;
      }
    }
    begin = end;
    rows.starts[static_cast<std::size_t>(i) + 1] = static_cast<Index>(to);
  }
  rows.columns.resize(to);
  rows.values.resize(to);
}

// What was gathered as rows; entries for the same element are added up.
template <class T>
layout::SparseRows<T> rows_of(std::vector<PlacedEntry<T>>& entries, layout::Shape shape, Index first_row, Index rows,
                              const std::string& path) {
  layout::SparseRows<T> result;
  result.shape = shape;
  result.first_row = first_row;
  result.starts.assign(static_cast<std::size_t>(rows) + 1, 0);
  for (const auto& entry : entries) ++result.starts[static_cast<std::size_t>(entry.place / shape.columns) + 1];
  std::partial_sum(result.starts.begin(), result.starts.end(), result.starts.begin());
  result.columns.resize(entries.size());
  result.values.resize(entries.size());
  std::vector<Index> next(result.starts.begin(), result.starts.end() - 1);
  for (const auto& [place, value] : entries) {
    const auto at = static_cast<std::size_t>(next[static_cast<std::size_t>(place / shape.columns)]++);
    result.columns[at] = static_cast<std::uint32_t>(place % shape.columns);
    result.values[at] = value;
  }
  entries = {};
  std::vector<PlacedEntry<T>> room;
  for (Index i = 0; i < rows; ++i) {
    const auto begin = static_cast<std::size_t>(result.starts[static_cast<std::size_t>(i)]);
    const auto count = static_cast<std::size_t>(result.starts[static_cast<std::size_t>(i) + 1]) - begin;
    sort_row(std::span(result.columns).subspan(begin, count), std::span(result.values).subspan(begin, count), room);
  }
  add_up_repeated(result, path);
  return result;
}

}  // namespace

template <MatrixMarketElement T>
layout::DistributedMatrix<T> read_matrix_market(mpi::Context& context, const std::string& path,
                                                const MatrixMarketHeader& header, const Progress& progress) {
  const auto layout =
      mpi::agreed(context, [&] { return slab_layout(header.shape, StorageOrder::column_major, context.size()); });
  std::optional<layout::DistributedMatrix<T>> matrix;
  read_entries<T>(context, path, header, layout, progress, [&] {
    matrix.emplace(make_slab<T>(path, layout, context.rank()));
    return Slab<T>(*matrix, header.format == MatrixMarketFormat::coordinate, path);
  });
  return std::move(*matrix);
}

template <class T>
layout::SparseRows<T> read_matrix_market_rows(mpi::Context& context, const std::string& path,
                                              const MatrixMarketHeader& header, const Progress& progress) {
  const layout::Shape shape = header.shape;
  const auto layout = mpi::agreed(
      context, [&] { return slab_layout({shape.columns, shape.rows}, StorageOrder::column_major, context.size()); });
  const Index own_rows = layout.columns().local_extent(context.rank());
  mpi::agreed(context, [&] {
    if (header.format != MatrixMarketFormat::coordinate) {
      throw ArgumentError(fmt::format("{}: is an array, expected the coordinate format", path));
    }
    Index places = 0;
    if (shape.columns > layout::most_sparse_columns || __builtin_mul_overflow(own_rows, shape.columns, &places)) {
      throw ArgumentError(fmt::format("{}: has {} columns, expected {} at most, and less than 2^63 elements a rank",
                                      path, shape.columns, layout::most_sparse_columns));
    }
  });
  std::vector<PlacedEntry<T>> entries;
  read_entries<T>(context, path, header, layout, progress, [&] { return Gathered<T>(entries); });
  const Index first = own_rows == 0 ? shape.rows : layout.columns().global_of(context.rank(), 0);
  return mpi::agreed(context, [&] { return rows_of(entries, shape, first, own_rows, path); });
}

template layout::SparseRows<Index> read_matrix_market_rows(mpi::Context&, const std::string&, const MatrixMarketHeader&,
                                                           const Progress&);
template layout::SparseRows<double> read_matrix_market_rows(mpi::Context&, const std::string&,
                                                            const MatrixMarketHeader&, const Progress&);
template layout::DistributedMatrix<Index> read_matrix_market(mpi::Context&, const std::string&,
                                                             const MatrixMarketHeader&, const Progress&);
template layout::DistributedMatrix<double> read_matrix_market(mpi::Context&, const std::string&,
                                                              const MatrixMarketHeader&, const Progress&);
template layout::DistributedMatrix<std::complex<double>> read_matrix_market(mpi::Context&, const std::string&,
                                                                            const MatrixMarketHeader&, const Progress&);

}  // namespace plait::io
