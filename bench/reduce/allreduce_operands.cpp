#include "bench/reduce/allreduce_operands.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>

#include "plait/base/contract.hpp"

#include "bench/harness/machine.hpp"
#include "bench/harness/memcpy_limit.hpp"

namespace plait::bench {

namespace {

using simd::Element;

/// Elements after which operands repeat themselves.
constexpr Index period = 61;

Index calls_for(Index bytes, bool have_cores) {
  constexpr Index bytes_of_run = 65'536;
  return std::clamp(bytes_of_run / bytes, Index{1}, Index{have_cores ? 128 : 8});
}

double addend(Addends addends, int rank, Index i) {
  if (addends == Addends::small) return static_cast<double>(i % period + rank);
  constexpr double large = 1152921504606846976.0;  // 2^60
  switch (rank % 4) {
    case 0: return large;
    case 1: return static_cast<double>(i % period);
    case 2: return -large;
    default: return 1;
  }
}

/// Computed in integers, and rounded once.
double sum(Addends addends, int ranks, Index i) {
  std::int64_t exact = 0;
  for (int rank = 0; rank < ranks; ++rank) exact += static_cast<std::int64_t>(addend(addends, rank, i));
  return static_cast<double>(exact);
}

void put(std::vector<std::byte>& elements, Element element, double value) {
  const auto append = [&](const auto& number) {
    const auto* bytes = reinterpret_cast<const std::byte*>(&number);
    elements.insert(elements.end(), bytes, bytes + sizeof(number));
  };
  switch (element) {
    case Element::float64: return append(value);
    case Element::float32: return append(static_cast<float>(value));
    case Element::bfloat16:  // the upper half of a float has all of a small integer
      return append(static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(static_cast<float>(value)) >> 16));
    default: PLAIT_ASSERT(false, "real numbers are summed up");
  }
}

std::span<std::byte> part_of(std::span<std::byte> memory, Index offset, Index bytes) {
  return memory.subspan(static_cast<std::size_t>(offset), static_cast<std::size_t>(bytes));
}

}  // namespace

AllreduceOperands::AllreduceOperands(mpi::Context& context, Element element, Index bytes, Place place, Addends addends)
    : element_(element),
      addends_(addends),
      n_(bytes / simd::size_in_bytes(element)),
      calls_(calls_for(bytes, context.topology().node().size() <= this_machine().cores)),
      stride_((bytes + 63) / 64 * 64) {
  const Index all = calls_ * stride_;
  if (place == Place::shared_memory) {
    shared_ = context.allocate_shared(2 * all);
  } else {
    private_ = Buffer(2 * all);
  }
  const std::span<std::byte> memory = place == Place::shared_memory ? shared_.bytes() : private_.bytes();
  std::ranges::fill(memory, std::byte{0});
  in_ = part_of(memory, 0, all);
  out_ = part_of(memory, all, all);
  for (Index i = 0; i < std::min(period, n_); ++i) put(own_, element, addend(addends, context.rank(), i));
}

void AllreduceOperands::rewrite() const {
  const Index bytes = n_ * simd::size_in_bytes(element_);
  for (Index call = 0; call < calls_; ++call) {
    const auto in = part_of(in_, call * stride_, bytes);
    for (std::size_t done = 0; done < in.size(); done += own_.size())
      std::memcpy(&in[done], own_.data(), std::min(own_.size(), in.size() - done));
    std::ranges::fill(part_of(out_, call * stride_, bytes), std::byte{0xA5});
  }
}

std::vector<Contender> AllreduceOperands::limits() const {
  return memcpy_limits(out_.data(), in_.data(), static_cast<Index>(in_.size()));
}

Index AllreduceOperands::wrong_elements(const Reduced& result) const {
  std::vector<std::byte> sums;  // of one period
  for (Index i = 0; i < period; ++i) put(sums, element_, sum(addends_, result.ranks, i));
  const Index size = simd::size_in_bytes(element_);
  Index wrong = 0;
  for (Index call = 0; call < calls_; ++call) {
    for (Index i = 0; i < result.n; ++i) {
      const std::byte* expected = sums.data() + (result.first + i) % period * size;
      if (!std::equal(expected, expected + size, out_.data() + call * stride_ + i * size)) ++wrong;
    }
  }
  return wrong;
}

}  // namespace plait::bench
