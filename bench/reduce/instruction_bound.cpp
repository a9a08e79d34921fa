#include "bench/reduce/instruction_bound.hpp"

#include <algorithm>
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "plait/base/memory.hpp"

#include "bench/reduce/element_values.hpp"
#include "bench/reduce/instruction_count.hpp"
#include "bench/reduce/vector_loops.hpp"

namespace plait::bench {

namespace {

// Both are many rounds of an unrolled loop, and their difference has no calls, heads and tails in it.
constexpr Index few_bytes = 1024, more_bytes = 2048;

/// Instructions that work(more) takes beyond those of work(few).
std::optional<double> instructions_between(Index few, Index more, const std::function<void(Index)>& work) {
  const auto less = count_instructions([&] { work(few); });
  const auto all = count_instructions([&] { work(more); });
  if (!less || !all) return std::nullopt;
  return static_cast<double>(*all - *less);
}

std::optional<double> count_per_element(simd::ReduceOperation operation, simd::Element element) {
  const Array<std::byte> in(more_bytes), inout(more_bytes);
  const Index few = few_bytes / simd::size_in_bytes(element), more = more_bytes / simd::size_in_bytes(element);
  write_operand(operation, element, Operand::in, in.data(), more);
  write_operand(operation, element, Operand::inout, inout.data(), more);
  simd::ReduceKernel* const kernel = simd::reduce_kernel(operation, element);
  auto count = instructions_between(few, more, [&](Index n) { kernel(n, in.data(), inout.data()); });
  if (count) *count /= static_cast<double>(more - few);
  return count;
}

std::optional<double> count_per_byte_of_loop() {
  const Array<std::byte> in(more_bytes), inout(more_bytes);
  auto count =
      instructions_between(few_bytes, more_bytes, [&](Index bytes) { busy_vectors(bytes, in.data(), inout.data()); });
  if (count) *count /= static_cast<double>(more_bytes - few_bytes);
  return count;
}

using Loop = void(Index bytes, const std::byte* in, std::byte* inout);

/// The loop, for about so many bytes altogether, in operands that fit every first cache.
Contender repeated(std::string name, Loop* loop, double bytes) {
  constexpr Index most_at_once = 8192, line_bytes = 64;
  const auto in = std::make_shared<Array<std::byte>>(most_at_once);
  const auto inout = std::make_shared<Array<std::byte>>(most_at_once);
  std::ranges::fill(in->span(), std::byte{0x31});  // small integers, and normal numbers of all formats
  std::ranges::fill(inout->span(), std::byte{0x32});
  const auto all = std::max(line_bytes, static_cast<Index>(bytes) / line_bytes * line_bytes);
  return {std::move(name), [=] {
            for (Index left = all; left > 0; left -= most_at_once)
              loop(std::min(left, most_at_once), in->data(), inout->data());
          }};
}

}  // namespace

std::optional<Contender> InstructionBound::contender(simd::ReduceOperation operation, simd::Element element,
                                                     Index elements) {
  const auto key = std::pair(operation, element);
  auto found = per_element_.find(key);
  if (found == per_element_.end()) found = per_element_.emplace(key, count_per_element(operation, element)).first;
  if (!per_byte_) per_byte_ = count_per_byte_of_loop();
  if (!found->second || !*per_byte_) return std::nullopt;
  return repeated("instructions", busy_vectors, *found->second * static_cast<double>(elements) / **per_byte_);
}

Contender conversions(Index elements) {
  return repeated("conversions", convert_halves,
                  static_cast<double>(elements * simd::size_in_bytes(simd::Element::float16)));
}

}  // namespace plait::bench
