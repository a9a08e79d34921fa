#include "bench/reduce/reduce_operands.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "plait/base/contract.hpp"

#include "bench/reduce/element_values.hpp"
#include "bench/reduce/flush.hpp"

namespace plait::bench {

namespace {

constexpr Index page_bytes = 4096, line_bytes = 64;

/// From one cold operand to the next: a page, so that none is fetched ahead for another, and some lines, so that not
/// all compete for the same places of a cache.
constexpr Index cold_gap = page_bytes + 5 * line_bytes;
constexpr Index most_cold_calls = 128;
constexpr Index cold_bytes = Index{512} << 10;  // of all cold operands of a run, unless one has more

constexpr Index most_warm_calls = 2048;

/// Short reductions take turns on some pairs of operands that the first cache has all of: on a single pair, each call
/// would wait until the result of the one before can be loaded, and nothing else that it does would count. Pairs are as
/// far apart as keeps what one call stores from being taken for what the next one loads: half a page, from which the
/// processors tell addresses apart.
constexpr Index short_bytes = 1024, pairs_of_short = 8, short_stride = 33 * line_bytes;

constexpr Index warm_bytes = Index{512} << 10;  // that a run goes through

/// Between the operands of a pair, so that they don't compete for the same places of a cache either.
constexpr Index pair_gap = 17 * line_bytes;

/// Elements after which the operands repeat themselves. A prime, so that vectors meet them in all ways.
constexpr Index pattern_period = 61;

Index calls_for(Index bytes, Caches caches) {
  return caches == Caches::warm ? std::clamp(warm_bytes / bytes, Index{1}, most_warm_calls)
                                : std::clamp(cold_bytes / bytes, Index{1}, most_cold_calls);
}

Index pairs_for(Index bytes, Caches caches) {
  if (caches == Caches::cold) return calls_for(bytes, caches);
  return bytes <= short_bytes ? pairs_of_short : 1;
}

Index stride_for(Index bytes, Caches caches) {
  if (caches == Caches::cold) return (bytes + line_bytes - 1) / line_bytes * line_bytes + cold_gap;
  return short_stride;
}

/// More is in no cache anyway, for the most.
constexpr Index most_fetched = Index{16} << 20;

/// The first pattern_period, again and again.
void repeat(std::byte* memory, Index period_bytes, Index bytes) {
  for (Index done = std::min(period_bytes, bytes); done < bytes;) {
    const Index length = std::min(done - done % period_bytes, bytes - done);
    std::copy_n(memory, length, memory + done);
    done += length;
  }
}

}  // namespace

OperandMemory::OperandMemory(Index largest_bytes)
    : in_(std::max(largest_bytes, cold_bytes) + most_cold_calls * cold_gap), inout_(in_.size() + pair_gap) {
  std::ranges::fill(in_.bytes(), std::byte{0});
  std::ranges::fill(inout_.bytes(), std::byte{0});
}

std::byte* OperandMemory::inout() const noexcept { return inout_.data() + pair_gap; }

ReduceOperands::ReduceOperands(std::shared_ptr<const OperandMemory> memory, simd::ReduceOperation operation,
                               simd::Element element, Index bytes, Caches caches)
    : memory_(std::move(memory)),
      operation_(operation),
      element_(element),
      bytes_(bytes),
      n_(bytes / simd::size_in_bytes(element)),
      calls_(calls_for(bytes, caches)),
      pairs_(pairs_for(bytes, caches)),
      stride_(stride_for(bytes, caches)),
      caches_(caches) {
  PLAIT_ASSERT(n_ >= 1 && n_ * simd::size_in_bytes(element) == bytes, "operands are whole elements");
  for (Index pair = 0; pair < pairs_; ++pair) {
    write_operand(operation, element, Operand::in, memory_->in() + pair * stride_, std::min(n_, pattern_period));
    repeat(memory_->in() + pair * stride_, pattern_period * simd::size_in_bytes(element), bytes_);
    write(memory_->inout() + pair * stride_);
  }
}

void ReduceOperands::write(std::byte* inout) const {
  write_operand(operation_, element_, Operand::inout, inout, std::min(n_, pattern_period));
  repeat(inout, pattern_period * simd::size_in_bytes(element_), bytes_);
}

void ReduceOperands::prepare() const {
  // What ran before may have taken so long that other programs have had the caches, and whoever comes next would pay.
  if (caches_ == Caches::warm && bytes_ > most_fetched) return;
  const auto leave = caches_ == Caches::warm ? fetch_into_caches : flush_from_caches;
  for (Index pair = 0; pair < pairs_; ++pair) {
    leave({memory_->in() + pair * stride_, static_cast<std::size_t>(bytes_)});
    leave({memory_->inout() + pair * stride_, static_cast<std::size_t>(bytes_)});
  }
}

Index ReduceOperands::wrong_after(const Call& reduce) const {
  const Index size = simd::size_in_bytes(element_);
  const Index first = std::min(n_, pattern_period);
  std::vector<std::byte> expected(static_cast<std::size_t>(first * size));
  write_operand(operation_, element_, Operand::inout, expected.data(), first);
  simd::reduce_kernel(operation_, element_, simd::Isa::scalar)(first, memory_->in(), expected.data());

  write(memory_->inout());
  reduce(n_, memory_->in(), memory_->inout());
  Index wrong = 0;
  for (Index i = 0; i < n_; ++i) {
    const std::byte* of_period = expected.data() + i % first * size;
    if (!std::equal(of_period, of_period + size, memory_->inout() + i * size)) ++wrong;
  }
  return wrong;
}

}  // namespace plait::bench
