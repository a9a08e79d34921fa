#pragma once

#include <optional>
#include <span>

#include "plait/base/dtype.hpp"
#include "plait/base/index.hpp"
#include "plait/collective/node/reducer.hpp"
#include "plait/collective/node/sliced_messages.hpp"
#include "plait/mpi/context.hpp"
#include "plait/simd/exact/exact_sum.hpp"
#include "plait/simd/reduce/element.hpp"
#include "plait/simd/reduce/element_of.hpp"

/// Sums over ranks that are the same to the last bit whatever the number of ranks, the order of the addends, the way in
/// which the data is shared out, and the machine: each is the exact sum of its addends, rounded once to nearest. So its
/// error is at most half a unit in the last place, however much cancels. All ranks get the same bits.
namespace plait::collective {

template <class T>
concept Summable = Field<T>;

/// Σ over all ranks, Σ over the rank's `addends`, of any number on each rank. 0 if there are none at all. Collective
/// over the context; one all-reduce of 0.6 kB, for complex numbers of 1.2 kB.
///
/// Special values are as `simd::ExactSum::rounded` has them.
///
/// \throws MpiError
template <Summable T>
[[nodiscard]] T reproducible_sum(mpi::Context& context, std::span<const T> addends);

/// The same of a type that is known at run time only: `count` addends, and one element of the result.
/// \throws ArgumentError  for other types
void reproducible_sum(mpi::Context& context, DType dtype, const void* addends, Index count, void* result);

/// Makes each of the sums that of all ranks' addends, for callers with several sums at a time or with addends that come
/// bit by bit: `ExactSum::add` and `simd::add_to` as often as one likes, this, then `ExactSum::rounded`. Collective; as
/// many sums on all ranks.
///
/// \throws MpiError
void merge(mpi::Context& context, std::span<simd::ExactSum> sums);

/// Element-wise sums of arrays over the ranks of a context:  out[i] = Σ over ranks r of in[i] of r.
///
/// Each rank sums up slices, of all operands at once: on one node through its shared memory, as `NodeReducer` does,
/// with more nodes by messages, as `SlicedMessages` does. Where all ranks are on one node, callers that have a
/// `NodeReducer` can as well give it a `Combine::reproducible_sum`. Special values, overflow, speed and sources: see
/// `simd::ReproducibleSumKernel`.
class ReproducibleSum {
 public:
  /// Collective over the context, which outlives this. Takes some communication, and memory for all calls.
  /// \throws std::bad_alloc, OutOfMemory  on all ranks, where one has too little
  explicit ReproducibleSum(mpi::Context& context);

  /// The sums on every rank. `in` and `out` hold n elements, and are the same or do not overlap. Collective, with the
  /// same n and element on all ranks.
  ///
  /// \throws ArgumentError  on all ranks alike: a negative n, an element that is no real or complex number of 32 or 64
  ///                        bits a part
  /// \throws MpiError
  void allreduce(const void* in, void* out, Index n, simd::Element element);

  /// The sums on the root only; elsewhere `out` is not looked at. Otherwise like `allreduce`.
  ///
  /// \throws ArgumentError  also a root that does not exist
  void reduce(const void* in, void* out, Index n, int root, simd::Element element);

  /// The same for C++'s types, in place.
  template <Summable T>
  void allreduce(std::span<T> data) {
    allreduce(data.data(), data.data(), static_cast<Index>(data.size()), simd::element_of<T>());
  }
  template <Summable T>
  void reduce(std::span<T> data, int root) {
    reduce(data.data(), data.data(), static_cast<Index>(data.size()), root, simd::element_of<T>());
  }

 private:
  std::optional<NodeReducer> node_;  // where there is but one
  std::optional<SlicedMessages> messages_;
};

}  // namespace plait::collective
