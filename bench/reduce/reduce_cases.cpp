#include "bench/reduce/reduce_cases.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <span>

#include <fmt/format.h>

#include "bench/harness/size_text.hpp"

namespace plait::bench {

namespace {

using simd::Element;
using simd::ReduceOperation;

constexpr Index kibi = 1024, mebi = 1024 * kibi;
constexpr std::array sizes{Index{64}, kibi, 16 * kibi, 256 * kibi, 4 * mebi, 64 * mebi, 128 * mebi};
constexpr std::array quick_sizes{kibi};
constexpr std::array uneven_sizes{Index{56}, Index{1000}};
constexpr Index largest_cold = 4 * mebi;  // more is in no cache anyway, for the most

Goal share(const ReduceSetting& setting, double from_256_kibi, double from_16_kibi) {
  Goal goal;
  if (setting.element == Element::long_double || setting.element == Element::long_double_int) return goal;
  if (setting.bytes >= 256 * kibi) {
    goal.fraction_of_limit = from_256_kibi;
  } else if (setting.bytes >= 16 * kibi) {
    goal.fraction_of_limit = from_16_kibi;
  }
  return goal;
}

}  // namespace

std::string ReduceSetting::name(int ranks, const std::string& delivery) const {
  std::string word(simd::name(operation));
  std::ranges::transform(word, word.begin(), [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  return fmt::format("reduce-local {} {} {} {} ranks={} {}", word, type, size_text(bytes),
                     caches == Caches::warm ? "warm" : "cold", ranks, delivery);
}

Goal ReduceSetting::gate() const { return share(*this, 0.85, 0.75); }

Goal ReduceSetting::aim() const { return share(*this, 0.95, 0.90); }

bool ReduceSetting::computes_longer() const {
  switch (element) {
    case Element::int8:
    case Element::uint8:
    case Element::int64:
    case Element::uint64:
    case Element::complex64:
    case Element::complex128: return operation == ReduceOperation::prod;
    case Element::int16:
    case Element::uint16:
    case Element::int32:
    case Element::uint32:
    case Element::float32:
    case Element::float64:
    case Element::boolean:
    case Element::logical: return false;
    default: return true;  // 16-bit floats, long double, pairs
  }
}

bool ReduceSetting::converts_halves() const {
  const simd::Isa isa = simd::selected_isa();
  return element == Element::float16 && (operation == ReduceOperation::sum || operation == ReduceOperation::prod) &&
         (isa == simd::Isa::avx2 || isa == simd::Isa::avx512);
}

Repetitions ReduceSetting::repetitions() const { return {bytes > largest_cold ? 6 : 10, 30, 0.2}; }

Index largest_reduced_bytes(bool quick) { return quick ? quick_sizes.back() : sizes.back(); }

std::vector<ReduceSetting> reduce_settings(ReduceOperation operation, Element element, const std::string& type,
                                           bool quick) {
  std::vector<ReduceSetting> settings;
  const std::span<const Index> all = quick ? std::span<const Index>(quick_sizes) : std::span<const Index>(sizes);
  for (const Caches caches : {Caches::warm, Caches::cold}) {
    for (const Index bytes : all) {
      if (caches == Caches::cold && bytes > largest_cold) continue;
      settings.push_back({operation, element, type, bytes, caches});
    }
  }
  return settings;
}

std::vector<ReduceSetting> uneven_reduce_settings(ReduceOperation operation, Element element, const std::string& type) {
  std::vector<ReduceSetting> settings;
  for (const Index bytes : uneven_sizes) settings.push_back({operation, element, type, bytes, Caches::warm});
  return settings;
}

std::vector<ReduceOperation> reducing_operations() {
  std::vector<ReduceOperation> operations;
  for (const ReduceOperation operation : simd::reduce_operations()) {
    if (operation != ReduceOperation::replace && operation != ReduceOperation::no_op) operations.push_back(operation);
  }
  return operations;
}

}  // namespace plait::bench
