#include "plait/learn/pieces.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "plait/base/error.hpp"
#include "plait/base/rounding.hpp"
#include "plait/mpi/agreed.hpp"
#include "plait/mpi/collectives.hpp"

namespace plait::learn {

namespace {

/// Groups of consecutive ranks, each with consecutive pieces: one piece or one rank at least.
struct Groups {
  Index pieces, ranks;

  [[nodiscard]] Index count() const { return std::min(pieces, ranks); }
  [[nodiscard]] Index of_piece(Index piece) const { return piece * count() / pieces; }
  [[nodiscard]] Index of_rank(Index rank) const { return rank * count() / ranks; }
  [[nodiscard]] Index first_rank(Index group) const { return quotient_up(group * ranks, count()); }
  [[nodiscard]] Index first_piece(Index group) const { return quotient_up(group * pieces, count()); }
  /// Who has a sample of a piece, that at some place of so many: ranks have samples in their order.
  [[nodiscard]] Index rank_of(Index piece, Index place, Index samples) const {
    const Index first = first_rank(of_piece(piece));
    return first + place * (first_rank(of_piece(piece) + 1) - first) / samples;
  }
};

/// Rows of outputs of the classes that a piece has, as rows of those of all.
Weights with_all_classes(Model model, const Weights& its, const std::vector<Index>& present, Index classes,
                         Index columns) {
  if (model == Model::linear || static_cast<Index>(present.size()) == classes) return its;
  const bool is_alone = present.size() == 1;
  const Index outputs = classes == 2 ? 1 : classes;
  Weights all(outputs * columns);
  for (Index k = 0; k < outputs; ++k) all[(k + 1) * columns - 1] = -HUGE_VAL;
  if (classes == 2) {
    all.back() *= present[0] == 1 ? -1 : 1;
    return all;
  }
  for (std::size_t k = 0; k < present.size(); ++k) {
    double* to = all.data() + present[k] * columns;
    if (present.size() > 2) {
      std::copy_n(its.begin() + static_cast<Index>(k) * columns, columns, to);
      continue;
    }
    // One output of two classes, which is the second one's, and less itself the first one's of an SVM.
    const double factor = is_alone ? 0 : k == 1 ? 1 : model == Model::svm ? -1 : 0;
    for (Index c = 0; c < columns; ++c) to[c] = factor == 0 ? 0 : factor * its[c];
  }
  return all;
}

/// Of one piece, as numbers for all ranks.
constexpr Index head_numbers = 4;

}  // namespace

std::vector<FittedPiece> fit_pieces(const Samples& samples, std::span<const std::int32_t> labels, Index pieces,
                                    const Options& options) {
  mpi::Context& context = samples.context();
  const Index d = samples.dimension();
  const bool has_classes = samples.model() != Model::linear;
  const Index kinds = has_classes ? static_cast<Index>(samples.classes().size()) : 1;
  Vector<Index> rows, tally, below, sizes;
  mpi::agreed(context, [&](mpi::Alike& alike) {
    alike.add("number of pieces", pieces);
    alike.add("method", options.method);
    if (options.method == Method::parallel_sgd || options.method == Method::asgd) {
      throw ArgumentError(fmt::format("the method of pieces is {}, expected one that does not depend on the ranks",
                                      name(options.method)));
    }
    rows = samples.own_training();
    if (static_cast<Index>(labels.size()) != rows.count() || pieces < 1) {
      throw ArgumentError(fmt::format("there are {} labels of {} pieces, expected one for each of {} samples",
                                      labels.size(), pieces, rows.count()));
    }
    tally.resize(pieces * kinds);
    below.resize(pieces);
    for (Index i = 0; i < rows.count(); ++i) {
      const Index piece = labels[at(i)];
      if (piece < 0 || piece >= pieces) {
        throw ArgumentError(fmt::format("a sample is of piece {}, expected one below {}", piece, pieces));
      }
      ++tally[piece * kinds + (has_classes ? samples.label(rows[i]) : 0)];
      ++below[piece];
    }
    sizes = below;
  });
  mpi::all_reduce(context.comm(), std::span<Index>(tally), mpi::Operation::sum());
  mpi::all_reduce(context.comm(), std::span<Index>(sizes), mpi::Operation::sum());
  mpi::prefix_reduce_bytes(context.comm(), std::as_writable_bytes(std::span<Index>(below)),
                           mpi::reduction<Index>(mpi::Operation::sum()));
  if (context.rank() == 0) below.assign(at(pieces), 0);
  if (const auto empty = std::ranges::find(sizes, Index{0}); empty != sizes.end()) {
    throw ArgumentError(fmt::format("piece {} has no samples, expected one at least", empty - sizes.begin()));
  }

  const Groups groups{pieces, context.size()};
  Vector<Index> to, number;
  mpi::agreed(context, [&] {
    for (const Index piece : labels) {
      to.push_back(groups.rank_of(piece, below[piece]++, sizes[piece]));
      number.push_back(piece);
    }
  });
  const Dealt dealt = deal(samples, rows, to, number);

  const Index columns = d + 1;
  std::vector<double> found;
  const Index group = groups.of_rank(context.rank());
  const mpi::Communicator ranks = context.comm().split(static_cast<int>(group), context.rank());
  const auto present_in = [&](Index piece) {
    std::vector<Index> present;
    for (Index k = 0; k < kinds; ++k) {
      if (has_classes && tally[piece * kinds + k] > 0) present.push_back(k);
    }
    return present;
  };
  mpi::agreed(context, [&] {
    mpi::Context alone(ranks.handle());
    const Rows rows_here(dealt.rows.data(), std::ssize(dealt.numbers), samples.own());
    const Index first = groups.first_piece(group);
    std::vector<Vector<Index>> places(at(groups.first_piece(group + 1) - first));
    for (std::size_t i = 0; i < dealt.numbers.size(); ++i) {
      places[at(dealt.numbers[i] - first)].push_back(static_cast<Index>(i));
    }
    for (std::size_t p = 0; p < places.size(); ++p) {
      const std::vector<Index> present = present_in(first + static_cast<Index>(p));
      LinearModel model{Vector<double>(columns), {}};
      iterate::State state{.end = iterate::End::converged};
      double objective = 0;
      if (present.size() != 1) {
        std::vector<std::byte> x;
        std::vector<double> y;
        mpi::agreed(alone, [&] {
          for (const Index i : places[p]) {
            const auto row = rows_here.bytes(i);
            x.insert(x.end(), row.begin(), row.end());
            const double target = dealt.targets[at(i)];
            y.push_back(has_classes ? samples.classes()[static_cast<std::size_t>(target)] : target);
          }
        });
        const Samples its(alone, Rows(x.data(), places[p].count(), samples.own()), y, samples.model());
        Solver solver(its, options);
        iterate::run(solver);
        model = solver.model();
        state = solver.state();
        objective = solver.objectives().empty() ? 0 : solver.objectives().back();
      }
      if (alone.rank() != 0) continue;
      const Weights all = with_all_classes(samples.model(), model.slopes, present, kinds, columns);
      found.insert(found.end(),
                   {static_cast<double>(state.step), static_cast<double>(state.end), state.error, objective});
      found.insert(found.end(), model.origin.begin(), model.origin.end());
      found.insert(found.end(), all.begin(), all.end());
    }
  });
  found = mpi::gather_on_all(context.comm(), std::span<const double>(found));
  return mpi::agreed(context, [&] {
    std::vector<FittedPiece> result(at(pieces));
    auto from = found.begin();
    for (Index p = 0; p < pieces; ++p) {
      FittedPiece& piece = result[at(p)];
      piece.samples = sizes[p];
      piece.classes = static_cast<Index>(present_in(p).size());
      piece.state = {static_cast<Index>(from[0]), from[2], static_cast<iterate::End>(from[1])};
      piece.objective = from[3];
      from += head_numbers;
      piece.model.origin = std::vector<double>(from, from + columns);
      from += columns;
      piece.model.slopes = std::vector<double>(from, from + samples.outputs() * columns);
      from += samples.outputs() * columns;
    }
    return result;
  });
}

}  // namespace plait::learn
