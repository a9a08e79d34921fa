#include "cli/scaling/narrowed_entries.hpp"

#include <span>

#include "plait/mpi/collectives.hpp"

namespace plait::cli {

NarrowedEntries of_all_ranks(mpi::Context& context, const NarrowedEntries& own) {
  const auto counts = mpi::all_gather(context.comm(), own.lost);
  struct Plain {
    Index row;
    Index column;
    double value;
  } first{own.row, own.column, own.value};
  NarrowedEntries all = own;
  all.lost = 0;
  int root = -1;
  for (std::size_t rank = 0; rank < counts.size(); ++rank) {
    all.lost += counts[rank];
    if (root < 0 && counts[rank] > 0) root = static_cast<int>(rank);
  }
  if (root < 0) return all;
  mpi::broadcast(context.comm(), std::span<Plain>(&first, 1), root);
  all.row = first.row;
  all.column = first.column;
  all.value = first.value;
  return all;
}

std::string describe(const NarrowedEntries& entries, std::string_view path) {
  return fmt::format(
      "{} of {} became 0 when stored in {}, the first {} in row {}, column {}; --precision f64 keeps them",
      entries.lost == 1 ? "1 entry" : fmt::format("{} entries", entries.lost), path, entries.type, entries.value,
      entries.row, entries.column);
}

}  // namespace plait::cli
