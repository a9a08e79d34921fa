#pragma once

#include <memory>
#include <span>
#include <vector>

#include "plait/mpi/context.hpp"
#include "plait/redistribute/matrix_pair.hpp"
#include "plait/redistribute/operands.hpp"
#include "plait/redistribute/options.hpp"
#include "plait/redistribute/volume.hpp"

namespace plait::redistribute {

class Plan;

/// Several redistributions in one exchange: what they send from one rank to another travels in the same messages, so
/// that many small matrices cost the latency of one. Layouts, ops, scalars and element types may differ from pair to
/// pair. Otherwise everything is as for `Redistribution`, and a batch of none moves nothing.
///
///     Batch batch(context, {{b_layout, a_layout}, {d_layout, c_layout, Op::transpose}});
///     batch.execute({Operands(1.0, b, 0.0, a), Operands(2.0F, d, 1.0F, c)});
///
/// Source: Kabić et al., "COSTA", section 5, batched transformation.
class Batch {
 public:
  Batch(mpi::Context& context, std::vector<MatrixPair> pairs, Options options = {});
  Batch(Batch&&) noexcept;
  Batch& operator=(Batch&&) noexcept;
  /// Finishes an execution under way first.
  ~Batch();

  /// One of `operands` for each pair, in their order. Targets must not overlap any source, nor each other.
  ///
  /// \throws as `Redistribution::execute`, naming the pair
  void execute(std::span<const Operands> operands) {
    start(operands);
    wait();
  }
  void execute(std::initializer_list<Operands> operands) { execute(std::span(operands.begin(), operands.size())); }

  /// As `Redistribution::start`, `progress` and `wait`; `operands` themselves may go after `start`.
  void start(std::span<const Operands> operands);
  bool progress();
  void wait();

  [[nodiscard]] std::span<const MatrixPair> pairs() const noexcept;
  /// Of the pair with this number.
  [[nodiscard]] Volume volume(std::size_t pair) const;

 private:
  std::unique_ptr<Plan> plan_;
};

}  // namespace plait::redistribute
