#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "plait/base/index.hpp"
#include "plait/base/memory.hpp"
#include "plait/mpi/context.hpp"
#include "plait/mpi/node/shared_memory.hpp"
#include "plait/simd/reduce/element.hpp"

#include "bench/harness/measure.hpp"
#include "bench/reduce/mpi_reductions.hpp"

namespace plait::bench {

/// Where operands lie.
enum class Place : unsigned char { private_memory, shared_memory };

/// What the ranks sum up.
enum class Addends : unsigned char {
  small,      // integers, whose sums are exact in every type
  cancelling  // large ones of both signs among small ones, which survive only in a sum that loses nothing
};

/// The operands and results of one rank, for several calls of a reduction in a row where they are short: each call has
/// its own, so that all are written afresh before a run, as they are in a program.
class AllreduceOperands {
 public:
  /// Collective over the context, which outlives it.
  ///
  /// \pre  the element is a real number, and `bytes` are whole ones; cancelling addends are float64
  AllreduceOperands(mpi::Context& context, simd::Element element, Index bytes, Place place,
                    Addends addends = Addends::small);

  [[nodiscard]] Index calls() const noexcept { return calls_; }
  [[nodiscard]] Index n() const noexcept { return n_; }

  /// Writes the operands, and rubbish into the results.
  void rewrite() const;

  /// allreduce(in, out) for each call.
  template <class Allreduce>
  void run(const Allreduce& allreduce) const {
    for (Index call = 0; call < calls_; ++call) {
      allreduce(static_cast<const void*>(in_.data() + call * stride_),
                static_cast<void*>(out_.data() + call * stride_));
    }
  }

  /// Copying all operands to where the results go.
  [[nodiscard]] std::vector<Contender> limits() const;

  /// How many elements of the results are not those of the sums that this rank gets.
  [[nodiscard]] Index wrong_elements(const Reduced& result) const;

 private:
  simd::Element element_;
  Addends addends_;
  Index n_;
  Index calls_;
  Index stride_;  // in bytes
  mpi::SharedMemory shared_;
  Buffer private_;
  std::span<std::byte> in_, out_;
  std::vector<std::byte> own_;  // one period of this rank's operand
};

}  // namespace plait::bench
