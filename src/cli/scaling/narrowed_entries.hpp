#pragma once

#include <cmath>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "plait/base/error.hpp"
#include "plait/base/index.hpp"
#include "plait/mpi/context.hpp"
#include "plait/simd/row_block.hpp"

#include "cli/job/no_result.hpp"
#include "cli/output/print.hpp"

namespace plait::cli {

/// What became of the entries of a file when they were stored in a narrower type: those that are 0 now, and were not.
struct NarrowedEntries {
  Index lost = 0;
  Index row = 0;  // the first of them
  Index column = 0;
  double value = 0;
  std::string_view type = {};  // "f32"
};

/// What a number is kept as.
///
/// \throws ArgumentError  it is beyond the range of T
template <class T>
[[nodiscard]] T narrowed_entry(double value, Index row, Index column, std::string_view path, NarrowedEntries& seen) {
  const T kept = simd::narrowed<T>(value);
  const auto number = simd::widened<double>(kept);
  seen.type = sizeof(T) == 2 ? "bf16" : "f32";
  if (std::isinf(number) && std::isfinite(value)) {
    throw ArgumentError(
        fmt::format("{}: the entry in row {}, column {} is {}, beyond the range of {} that it was to be "
                    "stored in; expected --precision f64",
                    path, row, column, value, seen.type));
  }
  if (number == 0 && value != 0) {
    if (seen.lost++ == 0) {
      seen.row = row;
      seen.column = column;
      seen.value = value;
    }
  }
  return kept;
}

/// The same of all ranks: how many there are, and the first one of the first rank that has one. Collective.
[[nodiscard]] NarrowedEntries of_all_ranks(mpi::Context& context, const NarrowedEntries& own);

/// "3 entries of K.npy became 0 when stored in f32, the first 1e-50 in row 1, ..."
[[nodiscard]] std::string describe(const NarrowedEntries& entries, std::string_view path);

/// Does the work, and tells of such entries where there are some: with what it throws, or by a warning.
///
/// \param work  called with what it fills in when it has read the file, alike on all ranks
template <class Work>
auto warn_of_underflow(const mpi::Context& context, std::string_view path, Work&& work) {
  NarrowedEntries entries;
  try {
    auto result = work(entries);
    if (entries.lost > 0 && context.rank() == 0) print_warning(describe(entries, path));
    return result;
  } catch (const NoResult& error) {
    if (entries.lost == 0) throw;
    throw NoResult(error.status(), fmt::format("{}; {}", error.what(), describe(entries, path)));
  } catch (const Error& error) {
    const bool is_about_entries = error.kind() == ErrorKind::argument || error.kind() == ErrorKind::other;
    if (entries.lost == 0 || !is_about_entries) throw;
    throw_error(error.kind(), fmt::format("{}; {}", error.what(), describe(entries, path)));
  }
}

}  // namespace plait::cli
