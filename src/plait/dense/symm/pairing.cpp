#include "plait/dense/symm/pairing.hpp"

namespace plait::dense::symm {

int Pairing::rank(int i, int j, int k) const noexcept {
  const int edge = mesh_.edge();
  return by_rows().rank(i, j, (k - i + edge) % edge);
}

layout::GridPlace Pairing::place(int rank) const noexcept {
  layout::GridPlace place = by_rows().place(rank);
  place.layer = (place.row + place.layer) % mesh_.edge();
  return place;
}

// On a circle an index leads those that follow it up to half of the way; opposite ones, the higher the lower.
bool Pairing::leads(int a, int b) const noexcept {
  const int edge = mesh_.edge();
  const int distance = (a - b + edge) % edge;
  return 2 * distance == edge ? a > b : distance > 0 && 2 * distance < edge;
}

std::vector<int> Pairing::ranks_of_row(int a, int j) const {
  std::vector<int> ranks{rank(a, j, a)};
  for (int b = 0; b < mesh_.edge(); ++b) {
    if (!leads(a, b)) continue;
    ranks.push_back(rank(a, j, b));
    ranks.push_back(rank(b, j, a));
  }
  return ranks;
}

std::vector<int> Pairing::ranks_of_first_columns(int j, int b) const {
  std::vector<int> ranks;
  for (int a = 0; a < mesh_.edge(); ++a)
    if (leads(a, b)) ranks.push_back(rank(a, j, b));
  return ranks;
}

std::vector<int> Pairing::ranks_of_last_columns(int j, int b) const {
  std::vector<int> ranks;
  for (int a = 0; a < mesh_.edge(); ++a)
    if (leads(a, b)) ranks.push_back(rank(b, j, a));
  return ranks;
}

std::vector<int> Pairing::ranks_of_sum(int i, int k) const {
  std::vector<int> ranks;
  ranks.reserve(static_cast<std::size_t>(mesh_.edge()));
  for (int j = 0; j < mesh_.edge(); ++j) ranks.push_back(rank(i, j, k));
  return ranks;
}

}  // namespace plait::dense::symm
