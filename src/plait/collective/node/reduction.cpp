#include "plait/collective/node/reduction.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <numeric>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "plait/base/error.hpp"
#include "plait/base/memory.hpp"
#include "plait/mpi/collectives.hpp"

namespace plait::collective::node {

namespace {

std::string number(std::uint64_t value) { return std::to_string(value); }
std::string reduction_name(std::uint64_t deliver) {
  constexpr std::array<std::string_view, 5> names{"allreduce", "reduce", "reduce_scatter", "scan", "exscan"};
  return std::string(names[static_cast<std::size_t>(deliver)]);
}
std::string element_name(std::uint64_t element) {
  return std::string(Combine::Name{.element = static_cast<unsigned char>(element)}.element_text());
}
std::string operation_name(std::uint64_t operation) {
  return std::string(Combine::Name{.operation = static_cast<unsigned char>(operation)}.operation_text());
}

struct Field {
  std::string_view name;
  int begin, end;  // bits of the word
  std::string (*text)(std::uint64_t value);

  [[nodiscard]] std::uint64_t value_in(std::uint64_t word) const noexcept {
    return word >> begin & ((std::uint64_t{1} << (end - begin)) - 1);
  }
};

constexpr std::array<Field, 5> fields{{
    {"reduction", 0, Arguments::element_at, reduction_name},
    {"element type", Arguments::element_at, Arguments::operation_at, element_name},
    {"operation", Arguments::operation_at, Arguments::n_at, operation_name},
    {"n", Arguments::n_at, Arguments::root_at, number},
    {"root", Arguments::root_at, 64, number},
}};

constexpr Index block_bytes = Index{8} << 10;

}  // namespace

void divide_equally(Index n, Index element_bytes, std::span<Index> begins) {
  const Index ranks = static_cast<Index>(begins.size()) - 1;
  // The fewest elements that fill whole lines.
  constexpr auto line = static_cast<Index>(Buffer::alignment);
  const Index whole = line / std::gcd(line, element_bytes);
  const Index share = ((n + ranks - 1) / ranks + whole - 1) / whole * whole;
  for (Index rank = 0; rank < ranks; ++rank) begins[at(rank)] = rank > n / share ? n : std::min(n, rank * share);
  begins.back() = n;
}

void divide_for_root(Index n, Index element_bytes, int root, std::span<Index> begins) {
  if (begins.size() > 3) return divide_equally(n, element_bytes, begins);
  for (std::size_t rank = 0; rank < begins.size(); ++rank) begins[rank] = rank > static_cast<std::size_t>(root) ? n : 0;
}

void divide_by_counts(std::span<const Index> counts, std::span<Index> begins) {
  begins[0] = 0;
  for (std::size_t rank = 0; rank < counts.size(); ++rank) begins[rank + 1] = begins[rank] + counts[rank];
}

Index longest_slice(std::span<const Index> begins) {
  Index longest = 0;
  for (std::size_t rank = 0; rank + 1 < begins.size(); ++rank) {
    longest = std::max(longest, begins[rank + 1] - begins[rank]);
  }
  return longest;
}

SlicePart piece_of(std::span<const Index> begins, int owner, Index round, Index length) {
  const Index end = begins[at(owner) + 1];
  const Index begin = begins[at(owner)];
  const Index done = std::min(round * length, end - begin);
  return {begin + done, begin + done + std::min(length, end - begin - done)};
}

void Arguments::throw_difference(int rank, Arguments of_first) const {
  for (const Arguments one : {of_first, *this}) {
    if (one != refused()) continue;
    throw ArgumentError(
        fmt::format("rank {}: its arguments of a reduction were refused, expected valid ones on all "
                    "ranks of the node",
                    one == of_first ? 0 : rank));
  }
  for (const Field& field : fields) {
    if (field.value_in(word_) == field.value_in(of_first.word_)) continue;
    throw ArgumentError(fmt::format("rank {}: {}: is {}, but {} on rank 0; expected the same on all ranks of the node",
                                    rank, field.name, field.text(field.value_in(word_)),
                                    field.text(field.value_in(of_first.word_))));
  }
  throw ArgumentError("the ranks of the node give different arguments, expected the same on all of them");
}

void throw_failed(int rank) {
  throw PeerFailed(rank, fmt::format("rank {} of the node failed to combine elements of a reduction", rank));
}

void rethrow_anywhere(const mpi::Communicator& node, const std::exception_ptr& failure) {
  const int failed = mpi::all_reduce(node, failure ? node.rank() : node.size(), mpi::Operation::minimum());
  if (failure) std::rethrow_exception(failure);
  if (failed < node.size()) throw_failed(failed);
}

void fold(const Combine& combine, Index n, std::span<const std::byte* const> operands, std::byte* out) {
  if (combine.sum_of_all() != nullptr) return combine.sum_of_all()(n, operands, out);
  if (operands.size() == 2) return combine(n, operands[0], operands[1], out);
  const Index element = combine.element_bytes();
  if (operands.size() == 1) {
    if (n > 0 && out != operands[0]) std::memcpy(out, operands[0], static_cast<std::size_t>(n * element));
    return;
  }
  const Index block = std::max<Index>(block_bytes / element, 1);
  for (Index first = 0; first < n; first += block) {
    const Index count = std::min(block, n - first);
    const Index offset = first * element;
    combine(count, operands[0] + offset, operands[1] + offset, out + offset);
    for (const std::byte* operand : operands.subspan(2)) combine(count, out + offset, operand + offset, out + offset);
  }
}

}  // namespace plait::collective::node
