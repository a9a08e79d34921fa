#include "plait/krylov/dots.hpp"

#include <algorithm>
#include <array>

#include "plait/base/contract.hpp"
#include "plait/collective/pipeline.hpp"
#include "plait/simd/exact/reproducible_sum.hpp"
#include "plait/simd/reduce/element_of.hpp"

namespace plait::krylov {

namespace {

using simd::ExactSum;

schedule::Schedule sum_over_ranks(mpi::Context& context, Sums sums) {
  const bool is_exact = sums == Sums::reproducible;
  const simd::Element element = is_exact ? simd::element_of<std::int64_t>() : simd::element_of<double>();
  const auto length = static_cast<Index>(Dots::most * (is_exact ? ExactSum::word_count : 1));
  collective::Pipeline pipeline(context, length, Index{sizeof(double)});
  pipeline.allreduce(collective::Group::all(context), {simd::ReduceOperation::sum, element});
  return pipeline.schedule("dots");
}

}  // namespace

Dots::Dots(mpi::Context& context, Sums sums)
    : sums_(sums),
      words_(sums == Sums::reproducible ? most * ExactSum::word_count : 0),
      schedule_(sum_over_ranks(context, sums)) {}

template <class T>
void Dots::add(std::size_t i, std::span<const T> a, std::span<const T> b) {
  PLAIT_ASSERT(a.size() == b.size() && i < most, "inner products are of vectors of one length");
  if (sums_ == Sums::fast) {
    // Several sums, as an addition waits for the one before.
    std::array<double, 8> sums{};
    std::size_t k = 0;
    for (; k + sums.size() <= a.size(); k += sums.size()) {
      for (std::size_t s = 0; s < sums.size(); ++s)
        sums[s] += static_cast<double>(a[k + s]) * static_cast<double>(b[k + s]);
    }
    for (; k < a.size(); ++k) sums[0] += static_cast<double>(a[k]) * static_cast<double>(b[k]);
    for (const double sum : sums) fast_[i] += sum;
    return;
  }
  std::array<double, 1024> products;
  for (std::size_t begin = 0; begin < a.size(); begin += products.size()) {
    const std::size_t count = std::min(products.size(), a.size() - begin);
    for (std::size_t k = 0; k < count; ++k) {
      products[k] = static_cast<double>(a[begin + k]) * static_cast<double>(b[begin + k]);
    }
    simd::add_to(exact_[i], std::span<const double>(products.data(), count));
  }
}

void Dots::begin() {
  std::span<std::byte> memory = std::as_writable_bytes(std::span(fast_));
  if (sums_ == Sums::reproducible) {
    for (std::size_t i = 0; i < most; ++i) {
      std::ranges::copy(exact_[i].state(), words_.begin() + static_cast<std::ptrdiff_t>(i * ExactSum::word_count));
    }
    memory = std::as_writable_bytes(std::span(words_));
  }
  const schedule::Binding vector = schedule::Binding::output(memory);
  schedule_.start(std::span(&vector, 1));
}

void Dots::finish() {
  schedule_.wait();
  for (std::size_t i = 0; i < most; ++i) {
    if (sums_ == Sums::reproducible) {
      ExactSum::State state;
      std::copy_n(words_.begin() + static_cast<std::ptrdiff_t>(i * ExactSum::word_count), state.size(), state.begin());
      exact_[i].set_state(state);
      fast_[i] = exact_[i].rounded<double>();
      exact_[i] = {};
    }
    results_[i] = fast_[i];
    fast_[i] = 0;
  }
}

template void Dots::add(std::size_t, std::span<const float>, std::span<const float>);
template void Dots::add(std::size_t, std::span<const double>, std::span<const double>);

}  // namespace plait::krylov
