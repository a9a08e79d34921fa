#pragma once

#include <algorithm>
#include <cstddef>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "plait/iterate/solver.hpp"
#include "plait/iterate/stagnation.hpp"
#include "plait/mpi/context.hpp"
#include "plait/sinkhorn/course/course.hpp"
#include "plait/sinkhorn/marginals/feasibility.hpp"
#include "plait/sinkhorn/marginals/marginals.hpp"

namespace plait::sinkhorn {

/// The vector of this name in a checkpoint.
///
/// \param what  it has so many of, for messages: "factors of columns"
/// \throws ArgumentError  there is none of this name, or it is of another length
[[nodiscard]] const std::vector<double>& vector_of(const std::map<std::string, std::vector<double>>& vectors,
                                                   const std::string& name, std::string_view what, std::size_t length);
/// Puts it into `to`, which is as long.
template <class A>
void take(const std::map<std::string, std::vector<double>>& vectors, const std::string& name, std::string_view what,
          std::span<A> to) {
  const std::vector<double>& from = vector_of(vectors, name, what, to.size());
  std::ranges::transform(from, to.begin(), [](double number) { return static_cast<A>(number); });
}

/// What an iteration goes on from: all else follows from it. The same on all ranks.
struct Iterate {
  std::variant<std::span<double>, std::span<float>> values;  // factors of columns, or logarithms of them
  bool are_logarithms = false;
  std::span<const double> weights = {};  // what their sums count; columns that count 0 only go plainly
};

/// What an iteration has found of a problem. The same on all ranks.
struct Found {
  double error = 0;
  bool is_out_of_range = false;  // sums are no numbers, or rows have no factor
};

/// A way to iterate: an operand, however it is stored, and an update, for several problems at once. An iteration takes
/// as many messages for all of them as for one. Collective over its context.
class Method {
 public:
  /// \param problems  which outlive this
  explicit Method(std::span<const CheckedMarginals> problems) {
    for (const CheckedMarginals& problem : problems) problems_.push_back(&problem);
  }
  explicit Method(std::vector<const CheckedMarginals*> problems) : problems_(std::move(problems)) {}
  Method(const Method&) = delete;
  Method& operator=(const Method&) = delete;
  virtual ~Method() = default;

  [[nodiscard]] std::size_t count() const noexcept { return problems_.size(); }
  [[nodiscard]] const CheckedMarginals& problem(std::size_t k) const noexcept { return *problems_[k]; }

  /// The first half of an iteration: gives the rows their sums, and sums the columns up over all ranks.
  ///
  /// \param problems  which ones take part: the numbers of those that have not ended
  virtual void rows(std::span<const std::size_t> problems, std::span<Found> found) = 0;
  /// The second half: gives the columns their sums. Returns the problems for which numbers left their range.
  virtual std::vector<std::size_t> columns(std::span<const std::size_t> problems) = 0;
  /// What columns move, if it can be moved further: see `QuasiNewton`.
  [[nodiscard]] virtual std::optional<Iterate> iterate(std::size_t /*problem*/) { return std::nullopt; }
  /// Between the halves: how the dual rises with the logarithms of columns' factors, what their sums lack.
  virtual void find_slopes(std::size_t /*problem*/, std::span<double> /*slopes*/) {}

  /// Looks for proof that there is no plan; see `feasibility`.
  [[nodiscard]] virtual std::vector<Feasibility> look_for_proof(std::span<const std::size_t> problems) {
    return std::vector<Feasibility>(problems.size());
  }

  /// How a problem ends whose numbers left their range in this iteration, where there is no proof.
  struct Ending {
    iterate::End end = iterate::End::numbers;
    std::string reason;
  };
  [[nodiscard]] virtual Ending out_of_range(std::size_t problem, Index iteration) const = 0;
  /// What the reason of a run that came to the limit of its iterations ends with; empty for nothing.
  [[nodiscard]] virtual std::string at_limit() const { return {}; }

  /// Of one problem.
  virtual void save(iterate::Checkpoint& /*checkpoint*/) const {}
  virtual void resume(const iterate::Checkpoint& /*checkpoint*/) {}

 private:
  std::vector<const CheckedMarginals*> problems_;
};

/// Iterates to the end, telling those that `limits` name. Collective over `context`.
///
/// \throws ArgumentError  on all ranks: a checkpoint to go on from that does not fit
[[nodiscard]] std::vector<Outcome> iterated(mpi::Context& context, Method& method, const Limits& limits,
                                            const iterate::Rounding& rounding);

}  // namespace plait::sinkhorn
