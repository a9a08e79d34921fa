#pragma once

#include <deque>
#include <exception>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "plait/mpi/context.hpp"
#include "plait/redistribute/agreement.hpp"
#include "plait/redistribute/exchange/exchange.hpp"
#include "plait/redistribute/matrix_pair.hpp"
#include "plait/redistribute/operands.hpp"
#include "plait/redistribute/options.hpp"
#include "plait/redistribute/overlap.hpp"
#include "plait/redistribute/planned_matrix.hpp"
#include "plait/redistribute/volume.hpp"

namespace plait::redistribute {

/// What a `Redistribution` and a `Batch` hold. It knows no element types, only element sizes: for each combination of
/// sizes there is a schedule, made when it is first used.
class Plan {
 public:
  /// Local: what went wrong is told when the first execution starts.
  /// \param rings  of plans that are never executed at the same time; null: of its own
  Plan(mpi::Context& context, std::vector<MatrixPair> pairs, Options options,
       std::shared_ptr<RingMemory> rings = nullptr);

  /// A plan that all ranks have. Whatever one of them gets wrong or lacks, the memory for the plan and for what
  /// `make_pairs` returns included, all of them throw. Collective.
  template <class MakePairs>
  [[nodiscard]] static std::unique_ptr<Plan> agreed(mpi::Context& context, MakePairs&& make_pairs, Options options) {
    context.expect_usable();
    std::unique_ptr<Plan> plan;
    std::exception_ptr failure;
    try {
      plan = std::make_unique<Plan>(context, std::forward<MakePairs>(make_pairs)(), std::move(options));
      failure = plan->unplanned_;
    } catch (...) {
      failure = std::current_exception();
    }
    agree(context, plan.get(), failure);
    return plan;
  }

  /// \param failure  what kept this rank from making its operands, for all ranks to throw
  void start(std::span<const Operands> operands, std::exception_ptr failure = nullptr,
             Agreement agreement = Agreement::needed);
  bool progress();
  void wait();
  /// Whether an execution was started that was not waited for.
  [[nodiscard]] bool is_under_way() const noexcept { return active_ != nullptr; }

  [[nodiscard]] std::span<const MatrixPair> pairs() const noexcept { return pairs_; }
  [[nodiscard]] Volume volume(std::size_t pair) const;

 private:
  /// \param plan  null where there is none for want of memory
  static void agree(mpi::Context& context, Plan* plan, const std::exception_ptr& failure);
  void expect_layouts(const MatrixPair& pair) const;
  void expect_fitting(std::span<const Operands> operands) const;
  void agree_on_operands(ExchangeKind& kind, const std::exception_ptr& failure, NodeTraffic& traffic);
  static void scale_target(const PlannedMatrix& matrix, const Operands& operands);
  void take_staging(const std::vector<Index>& element_bytes);
  /// What was taken, but for the exchange of that kind.
  void give_back_staging(const ExchangeKind* kept = nullptr) noexcept;
  [[nodiscard]] bool knows(const std::vector<Index>& element_bytes) const;
  [[nodiscard]] std::unique_ptr<Exchange> cut_exchange(const ExchangeKind& kind);
  Exchange& new_exchange(const ExchangeKind& kind, std::unique_ptr<Exchange> cut, NodeTraffic traffic,
                         Agreement agreement);
  void begin(const ExchangeKind& kind, std::span<const Operands> operands, std::unique_ptr<Exchange> cut,
             NodeTraffic traffic, Agreement agreement);
  /// "pair 3: " where there are several.
  [[nodiscard]] std::string name_of(std::size_t pair) const;

  mpi::Context& context_;
  Options options_;
  std::shared_ptr<RingMemory> rings_;
  const std::vector<MatrixPair> pairs_;
  std::deque<PlannedMatrix> matrices_;
  // After the matrices, which the one under way needs until it ends.
  std::map<ExchangeKind, std::unique_ptr<Exchange>> exchanges_;
  Exchange* active_ = nullptr;
  std::exception_ptr unplanned_;  // why there is no plan on this rank
  std::exception_ptr unbegun_;    // why an execution that was agreed on did not begin on it
  // Of the execution that begins, kept so that repeated ones allocate nothing.
  mpi::Alike arguments_;  // of the execution that begins
  ExchangeKind beginning_;
  DisjointTiles disjoint_;
  bool calls_users_ = false;  // in the execution under way: what they throw on one rank is told to all
};

}  // namespace plait::redistribute
