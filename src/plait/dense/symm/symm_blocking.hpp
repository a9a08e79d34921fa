#pragma once

#include <cstddef>
#include <optional>
#include <span>

#include "plait/base/memory.hpp"
#include "plait/dense/symm/symm_plan.hpp"
#include "plait/mpi/communicator.hpp"

namespace plait::dense {

/// Algorithms 3 and 4, phase by phase, each by the MPI library's blocking collectives.
class SymmBlocking final : public SymmPlan {
 public:
  /// Collective over the context.
  SymmBlocking(mpi::Context& context, const SymmGrid& mesh, const SymmProducts& products, const SymmOptions& options);

  void make(Powers powers) override;
  void prepare(Powers /*powers*/) override {}
  void run(const SymmOperands& operands, Powers powers) override;
  [[nodiscard]] Index workspace_bytes() const noexcept override;

 private:
  void square(const SymmOperands& operands);
  void broadcast_square();
  void multiply(bool transposes_b);
  void reduce(int root, std::byte* out);
  using Reducer = int (*)(int i, int k);  // at which j block (i, k) was reduced
  void send_home(Reducer reducer, const std::byte* block, std::byte* home);

  [[nodiscard]] bool is_original() const noexcept { return options().algorithm == SymmAlgorithm::original; }
  [[nodiscard]] std::span<std::byte> bytes(std::byte* data, Index elements) const {
    return {data, static_cast<std::size_t>(elements * products_->element_bytes)};
  }

  mpi::Context* context_;
  const SymmProducts* products_;
  layout::GridPlace me_;
  bool takes_part_;
  Index rows_ = 0, inner_ = 0, columns_ = 0;  // C is rows × columns, a sum of `inner` terms
  std::optional<mpi::Communicator> along_i_, along_j_, along_k_;
  mpi::Tags tags_;
  Buffer a_, b_, c_, d2_, d3_;
};

}  // namespace plait::dense
