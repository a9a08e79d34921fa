#include "plait/io/matrix_market.hpp"

#include <algorithm>
#include <array>
#include <vector>

#include <fmt/format.h>

#include "plait/base/error.hpp"
#include "plait/io/entry_exchange.hpp"
#include "plait/io/file.hpp"
#include "plait/io/rank_zero.hpp"
#include "plait/io/slab.hpp"
#include "plait/io/text_lines.hpp"
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

template <class T>
void expect_type(const MatrixMarketHeader& header) {
  if (header.dtype() == dtype_of<T>()) return;
  throw ArgumentError(fmt::format("T is {}; the header says {}", name(dtype_of<T>()), name(header.dtype())));
}

// The elements of this rank, while they are put in.
template <class T>
class Slab {
 public:
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
template <class T>
class Reader {
 public:
  Reader(mpi::Context& context, TextLines lines, MatrixMarketEntries<T> entries, EntryExchange<T> exchange,
         Slab<T> slab)
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
      pass_on(*entry);
      if (const auto mirrored = entries_.mirrored(*entry)) pass_on(*mirrored);
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
  Slab<T> slab_;
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

template <MatrixMarketElement T>
layout::DistributedMatrix<T> read_matrix_market(mpi::Context& context, const std::string& path,
                                                const MatrixMarketHeader& header, const Progress& progress) {
  const File file = mpi::agreed(context, [&] {
    expect_type<T>(header);
    return File::open_to_read(path);
  });
  const Share share = share_of(context, header.data_offset, told_by_rank_zero(context, [&] { return file.size(); }));
  const Counts own = mpi::agreed(context, [&] { return count(share.lines(file)); });
  expect_announced(mpi::all_reduce(context.comm(), own.entries, mpi::Operation::sum()), header, path);
  const Index first_line = header.size_line + 1 + mpi::sum_below(context.comm(), own.lines);
  const Index first_entry = mpi::sum_below(context.comm(), own.entries);

  const auto layout = slab_layout(header.shape, StorageOrder::column_major, context.size());
  auto matrix = mpi::agreed(context, [&] { return make_slab<T>(path, layout, context.rank()); });
  auto reader = mpi::agreed(context, [&] {
    const bool additive = header.format == MatrixMarketFormat::coordinate;
    return Reader<T>(context, share.lines(file), MatrixMarketEntries<T>(header, path, first_line, first_entry),
                     EntryExchange<T>(context, layout), Slab<T>(matrix, additive, path));
  });
  reader.run(progress);
  return matrix;
}

template layout::DistributedMatrix<Index> read_matrix_market(mpi::Context&, const std::string&,
                                                             const MatrixMarketHeader&, const Progress&);
template layout::DistributedMatrix<double> read_matrix_market(mpi::Context&, const std::string&,
                                                              const MatrixMarketHeader&, const Progress&);
template layout::DistributedMatrix<std::complex<double>> read_matrix_market(mpi::Context&, const std::string&,
                                                                            const MatrixMarketHeader&, const Progress&);

}  // namespace plait::io
