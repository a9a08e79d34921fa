#include "cli/partition/moved_rows.hpp"

#include <cstring>
#include <numeric>

#include "plait/base/random.hpp"
#include "plait/base/rounding.hpp"
#include "plait/io/graph/graph_file.hpp"
#include "plait/io/rank_zero.hpp"

namespace plait::cli {

namespace {

/// The row of each vertex in a file of which the rows are sorted by parts; without parts, by the numbers of vertices.
std::vector<Index> rows_by(std::span<const int> part, Index vertices) {
  std::vector<Index> row(at(vertices));
  if (part.empty()) {
    std::iota(row.begin(), row.end(), Index{0});
    return row;
  }
  std::vector<Index> next(at(std::ranges::max(part) + 1));
  for (const int p : part) ++next[at(p)];
  std::exclusive_scan(next.begin(), next.end(), next.begin(), Index{0});
  std::ranges::transform(part, row.begin(), [&](int p) { return next[at(p)]++; });
  return row;
}

/// The rows of the vertices in the slabs of two files.
class Dealing {
 public:
  Dealing(const layout::Layout& slab, int rank, std::span<const int> part_before, std::span<const int> part_after)
      : slab_(slab),
        rank_(rank),
        begin_(io::elements_before(slab, rank) / std::max(Index{1}, slab.shape().columns)),
        before_(rows_by(part_before, slab.shape().rows)),
        after_(rows_by(part_after, slab.shape().rows)) {}

  [[nodiscard]] std::span<const Index> before() const noexcept { return before_; }
  [[nodiscard]] std::span<const Index> after() const noexcept { return after_; }

  struct Row {
    Index vertex;
    Index row;  // in the slab
    int peer;   // the rank that has it in the other file
  };
  /// This rank's rows of one of the files, by the ranks that have them in the other one, then by the numbers of
  /// vertices: as they are sent, and as they arrive.
  [[nodiscard]] std::vector<Row> own(bool is_before) const {
    const auto& mine = is_before ? before_ : after_;
    const auto& others = is_before ? after_ : before_;
    std::vector<Row> rows;
    for (std::size_t v = 0; v < mine.size(); ++v) {
      if (owner(mine[v]) == rank_) rows.push_back({static_cast<Index>(v), mine[v] - begin_, owner(others[v])});
    }
    std::ranges::stable_sort(rows, {}, &Row::peer);
    return rows;
  }

 private:
  [[nodiscard]] int owner(Index row) const { return static_cast<int>(slab_.rows().part_of(row)); }

  layout::Layout slab_;
  int rank_;
  Index begin_;
  std::vector<Index> before_;
  std::vector<Index> after_;
};

/// Brings each row to where it is after.
template <class T>
void deal(mpi::Context& context, const Dealing& dealing, const layout::DistributedMatrix<T>& from,
          layout::DistributedMatrix<T>& to) {
  const Index columns = from.layout().shape().columns;
  std::vector<Index> counts(at(context.size()));
  const auto sent = mpi::agreed(context, [&] {
    std::vector<T> elements;
    for (const auto& [vertex, row, peer] : dealing.own(true)) {
      counts[at(peer)] += columns;
      const T* const first = from.const_tiles()[0].data() + row * columns;
      elements.insert(elements.end(), first, first + columns);
    }
    return elements;
  });
  const auto received = mpi::all_to_all(context.comm(), std::span<const T>(sent), counts);
  const T* next = received.data();
  for (const auto& [vertex, row, peer] : dealing.own(false)) {
    std::copy_n(next, columns, to.tiles()[0].data() + row * columns);
    next += columns;
  }
}

/// A sum over vertices of what their rows hold: another one, if a row is that of another vertex. Collective.
template <class T>
std::uint64_t checksum(mpi::Context& context, const Dealing& dealing, bool is_before,
                       const layout::DistributedMatrix<T>& slab) {
  const auto& tile = slab.const_tiles()[0];
  std::uint64_t sum = 0;
  for (const auto& [vertex, i, peer] : dealing.own(is_before)) {
    auto hash = static_cast<std::uint64_t>(vertex);
    for (Index c = 0; c < tile.columns(); ++c) {
      const T& element = tile(i, c);
      for (std::size_t byte = 0; byte < sizeof(T); byte += sizeof hash) {
        std::uint64_t word = 0;
        std::memcpy(&word, reinterpret_cast<const char*>(&element) + byte, std::min(sizeof word, sizeof(T) - byte));
        hash = random_bits(hash, word);
      }
    }
    sum += hash;
  }
  return mpi::all_reduce(context.comm(), sum, mpi::Operation::sum());
}

}  // namespace

void MovedRows::declare(Options& options, const std::string& before) {
  options.reads("--move", input_,
                fmt::format("What belongs to the vertices: {} with a row for each, {}", matrix_file, before),
                io::arrays);
  options.writes("--moved", output_, kind::matrix,
                 "The rows of --move as the new parts have them, those of part 0 first, each part's by the numbers of "
                 "vertices: a .npy or HDF5 file",
                 {"--move"});
  options.writes("--moved-from", rows_path_, kind::list, "The row of --move that each row of --moved is");
}

void MovedRows::check() const {
  if (are_wanted() && output_.empty()) throw UsageError("--move is given, but --moved is missing: the file to write");
  if (are_wanted()) return;
  for (const auto& [option, path] : {std::pair("--moved", &output_), std::pair("--moved-from", &rows_path_)}) {
    if (!path->empty()) throw UsageError("{} is given, but --move is missing: the rows to move", option);
  }
}

void MovedRows::prepare(Work& work) const {
  if (!are_wanted()) return;
  mpi::agreed(work.context, [&] {
    if (input_.extents.dimensions < 3 || input_.order == StorageOrder::row_major) return;
    throw FileError(fmt::format("{}: is {} in Fortran order; expected C order, where what is of a vertex lies together",
                                input_.path, io::to_string(input_.extents)));
  });
}

void MovedRows::expect_rows(Work& work, Index vertices) const {
  if (!are_wanted()) return;
  mpi::agreed(work.context, [&] {
    if (input_.shape.rows == vertices) return;
    throw FileError(fmt::format("{}: has {}; expected {}, one for each vertex", input_.path,
                                counted(input_.shape.rows, "row"), vertices));
  });
  work.expect_memory({quotient_up(layout::elements(input_.shape), work.context.size()) * 2 * io::bytes(input_.dtype) +
                      100 * vertices});
}

void MovedRows::move(Work& work, std::span<const int> before, std::span<const int> after) {
  if (!are_wanted()) return;
  const Stopwatch watch;
  io::with_dtype(input_.dtype, [&]<class T>() {
    const auto slab = work.slabs(input_.shape);
    const auto from = work.read_matrix<T>(input_, slab, input_.path);
    auto to = work.allocated<T>(slab, output_);
    const auto dealing = mpi::agreed(work.context, [&] { return Dealing(slab, work.context.rank(), before, after); });
    work.meter.stage("moving " + input_.path, 0, 0);
    deal(work.context, dealing, from, to);
    if (checksum(work.context, dealing, true, from) != checksum(work.context, dealing, false, to)) {
      throw Error(ErrorKind::other, "the check failed: rows are not those of their vertices; they were not written");
    }
    std::vector<int> origin(after.size());
    moved_ = 0;
    for (std::size_t v = 0; v < after.size(); ++v) {
      origin[at(dealing.after()[v])] = static_cast<int>(dealing.before()[v]);
      moved_ += dealing.after()[v] != dealing.before()[v] ? 1 : 0;
    }
    work.write_array(output_, input_.extents, to);
    if (!rows_path_.empty()) write_numbers(work, rows_path_, origin);
  });
  seconds_ = watch.seconds();
}

void MovedRows::report(Report& report) const {
  if (!are_wanted()) return;
  report.fact("move.path", input_.path);
  report.fact_or_null("move.rows_path", rows_path_);
  report.fact("move.rows", moved_);
  report.line("rows", "{} to {}: {} of {} at another place of the file, each checked to be that of its vertex; {}",
              input_.path, report.fact("move.output", output_), moved_, counted(input_.shape.rows, "row"),
              seconds_text(report.fact("move.seconds", seconds_)));
}

void write_numbers(Work& work, const std::string& path, std::span<const int> numbers) {
  work.meter.stage("writing " + path, 0, static_cast<Index>(numbers.size_bytes()));
  io::on_rank_zero(work.context, [&] { io::write_parts_aside(path, numbers).publish(); });
}

}  // namespace plait::cli
