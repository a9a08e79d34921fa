#include "mpi/schedule/hazards.hpp"

#include <algorithm>

namespace plait::test {
namespace {

template <class Slots, class F>
void each_word(Slots& slots, const std::vector<Cells>& ranges, F f) {
  for (const Cells& cells : ranges) {
    auto& words = slots[static_cast<std::size_t>(cells.slot)];
    for (Index i = 0; i < cells.count; ++i) f(words[static_cast<std::size_t>(cells.first + i)]);
  }
}

}  // namespace

void Hazards::add_slot(Index words) { slots_.emplace_back(static_cast<std::size_t>(words)); }

std::vector<int> Hazards::before(const Part& part) const {
  std::vector<int> parts;
  const auto add = [&](int number) {
    if (number >= 0 && (parts.empty() || parts.back() != number)) parts.push_back(number);
  };
  each_word(slots_, part.reads, [&](const Word& word) { add(word.writer); });
  each_word(slots_, part.writes, [&](const Word& word) {
    add(word.writer);
    for (const int reader : word.readers) add(reader);
  });
  std::sort(parts.begin(), parts.end());
  parts.erase(std::unique(parts.begin(), parts.end()), parts.end());
  return parts;
}

void Hazards::record(const Part& part) {
  each_word(slots_, part.reads, [&](Word& word) {
    if (word.readers.empty() || word.readers.back() != part.number) word.readers.push_back(part.number);
  });
  each_word(slots_, part.writes, [&](Word& word) {
    word.writer = part.number;
    word.readers.clear();
  });
}

}  // namespace plait::test
