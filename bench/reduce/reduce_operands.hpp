#pragma once

#include <cstddef>
#include <functional>
#include <memory>

#include "plait/base/index.hpp"
#include "plait/base/memory.hpp"
#include "plait/simd/reduce/element.hpp"
#include "plait/simd/reduce/reduce.hpp"

namespace plait::bench {

/// Whether operands are in the caches, as far as these are large enough, when a reduction begins.
enum class Caches : unsigned char { warm, cold };

/// Memory for the operands of one case after the other: taken once, since fresh pages cost more than most cases.
class OperandMemory {
 public:
  /// For operands of up to `largest_bytes` each.
  explicit OperandMemory(Index largest_bytes);

  [[nodiscard]] std::byte* in() const noexcept { return in_.data(); }
  [[nodiscard]] std::byte* inout() const noexcept;

 private:
  Buffer in_;
  Buffer inout_;
};

/// The two operands of inout[i] = in[i] op inout[i] on one rank.
///
/// One run makes several calls where they are short: on a few pairs of operands in turn, which then are in the caches,
/// or on as many as there are calls, pages apart, which have all been flushed from the caches. Values are such that
/// sums and products stay finite and normal through all runs, so that nothing need be rewritten between them.
class ReduceOperands {
 public:
  using Call = std::function<void(Index n, const void* in, void* inout)>;

  /// \pre  `bytes` are whole elements, no more than the memory is for
  ReduceOperands(std::shared_ptr<const OperandMemory> memory, simd::ReduceOperation operation, simd::Element element,
                 Index bytes, Caches caches);

  [[nodiscard]] Index calls() const noexcept { return calls_; }

  /// Between two runs: leaves the caches as the case wants them.
  void prepare() const;

  /// reduce(n, in, inout) as often as `calls` says.
  template <class Reduce>
  void run(const Reduce& reduce) const {
    const std::byte* in = memory_->in();
    std::byte* inout = memory_->inout();
    Index place = 0;
    for (Index call = 0; call < calls_; ++call) {
      reduce(n_, static_cast<const void*>(in + place), static_cast<void*>(inout + place));
      place += stride_;
      if (place == pairs_ * stride_) place = 0;
    }
  }

  /// How many elements differ from those of plait's scalar kernel after one call on new operands.
  [[nodiscard]] Index wrong_after(const Call& reduce) const;

 private:
  void write(std::byte* inout) const;

  std::shared_ptr<const OperandMemory> memory_;
  simd::ReduceOperation operation_;
  simd::Element element_;
  Index bytes_;
  Index n_;
  Index calls_;
  Index pairs_;   // of operands
  Index stride_;  // in bytes, from one to the next
  Caches caches_;
};

}  // namespace plait::bench
