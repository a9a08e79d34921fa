#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <span>
#include <vector>

#include "plait/base/index.hpp"
#include "plait/base/random.hpp"
#include "plait/mpi/context.hpp"

namespace plait::sinkhorn {

/// The sums that rows and columns of a plan are to have; none may be negative. Where those of the rows are left out,
/// they are all alike and add up to what the columns' do; likewise the columns'. Where both are, rows sum up to 1:
/// to ones for a square matrix.
struct Marginals {
  std::span<const double> rows;     // of this rank's rows
  std::span<const double> columns;  // of all columns; the same on all ranks
};

/// Marginals that were checked.
struct CheckedMarginals {
  std::vector<double> rows;     // of this rank's rows
  std::vector<double> columns;  // of all; their sum is that of all ranks' rows
  double total = 0;
  bool are_uniform = true;  // all rows alike, and all columns; of balancing, those that are not masked
  Index first_row = 0;      // the number in the matrix of this rank's first row
  Index all_rows = 0;
};

/// Which columns a rank has of its rows: all of them, or those of a block of a process grid.
struct Columns {
  Index first = 0;                    // the number in the matrix of the block's first column
  mpi::Context* of_row = nullptr;     // ranks that have other columns of these rows
  mpi::Context* of_column = nullptr;  // ranks that have other rows of these columns

  /// Whether this rank is the one that names its rows to others.
  [[nodiscard]] bool begin_rows() const { return of_row == nullptr || of_row->rank() == 0; }
};

/// Sums of 0, with which nothing is asked of a matrix but that its entries are numbers that may be there. Collective
/// over `context`.
///
/// \param columns  of the matrix, of which this rank has `rows` rows
[[nodiscard]] CheckedMarginals zero_marginals(mpi::Context& context, Index rows, Index columns);

/// Two sums of marginals differ if they do by more than this, relative to the larger one. If less, the columns' are
/// multiplied so that both are the same: without that no plan has them.
inline constexpr double sums_tolerance = 1e-6;

/// Stands for numbers that all ranks have to give alike: that of other ones is another one, but for one case in 2^64.
///
/// \param before  the digest of what comes before them
template <class T>
[[nodiscard]] Index digest_of(std::span<const T> numbers, Index before = 0) {
  auto state = static_cast<std::uint64_t>(before);
  for (const T number : numbers) {
    state = random_bits(state, std::bit_cast<std::uint64_t>(static_cast<double>(number)));
  }
  return static_cast<Index>(state);
}

/// \throws ArgumentError  on all ranks: numbers of problems that differ from rank to rank. Collective over `context`
void expect_as_many(mpi::Context& context, std::size_t problems);

/// Whether rows and columns must have one sum in all.
enum class Totals : unsigned char {
  equal,  ///< they must, but for rounding
  any,    ///< they need not, as in unbalanced problems: none is changed, and `total` is that of the rows
};

/// Checks marginals. Collective over `context`.
///
/// \param columns  of the matrix, of which this rank has `rows` rows
/// \throws ArgumentError  on all ranks: a length that is not the matrix's, a marginal that is negative, infinite or no
///                        number, columns or their marginals that differ from rank to rank; where totals have to be
///                        equal: none but zeros, sums that differ
[[nodiscard]] CheckedMarginals checked_marginals(mpi::Context& context, Index rows, Index columns,
                                                 const Marginals& marginals, Totals totals = Totals::equal);

/// Those of several problems with one matrix, by as many messages as one takes; as many problems on all ranks.
///
/// \throws ArgumentError  on all ranks: what the first problem that is wrong throws by itself, with its number in front
///                        where there are several
[[nodiscard]] std::vector<CheckedMarginals> checked_marginals_of_each(mpi::Context& context, Index rows, Index columns,
                                                                      std::span<const Marginals> problems,
                                                                      Totals totals = Totals::equal);

/// Checks of several problems by as few messages as of one: the first problem that fails on any rank is the one that
/// all ranks tell of, by the text of the lowest rank on which it does.
class FirstFailure {
 public:
  explicit FirstFailure(std::size_t problems) : problems_(problems), first_(problems) {}

  /// Calls check(k) for each problem before the first one that failed so far, until one throws. Collective over
  /// `context`; one all-reduce.
  template <class F>
  void check_each(mpi::Context& context, const F& check) {
    std::size_t own = first_;
    std::exception_ptr failure;
    for (std::size_t k = 0; k < own; ++k) {
      try {
        check(k);
      } catch (...) {
        failure = std::current_exception();
        own = k;
      }
    }
    note(context, own, failure);
  }

  /// The number of the first problem that failed: of all problems, if none did. The same on all ranks.
  [[nodiscard]] std::size_t first() const noexcept { return first_; }

  /// Collective over `context`; no message where nothing failed.
  ///
  /// \throws  on all ranks, as `mpi::agree`: what the check of the first problem that failed threw; where there are
  ///          several problems, an ArgumentError has its number: "marginals 3: ..."
  void expect_none(mpi::Context& context) const;

 private:
  void note(mpi::Context& context, std::size_t own, const std::exception_ptr& failure);

  std::size_t problems_;
  std::size_t first_;
  std::exception_ptr failure_;  // of the first one, where it failed on this rank
};

}  // namespace plait::sinkhorn
