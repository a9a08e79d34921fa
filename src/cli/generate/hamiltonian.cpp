#include "cli/generate/hamiltonian.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

#include "plait/base/error.hpp"
#include "plait/layout/shape.hpp"

#include "cli/generate/hamiltonian_kinds.hpp"

namespace plait::cli {

namespace {

constexpr std::array<std::pair<HamiltonianKind, std::string_view>, 5> kinds{
    {{HamiltonianKind::c60, "c60"},
     {HamiltonianKind::fullerene, "fullerene"},
     {HamiltonianKind::polyacetylene, "polyacetylene"},
     {HamiltonianKind::graphene, "graphene"},
     {HamiltonianKind::prescribed, "prescribed"}}};

void expect_none(bool given, const char* option, HamiltonianKind kind, const char* belongs_to) {
  if (!given) return;
  throw ArgumentError(
      fmt::format("{} is given, but --kind is {}; expected it with {} only", option, name(kind), belongs_to));
}

}  // namespace

std::string_view name(HamiltonianKind kind) { return kinds[static_cast<std::size_t>(kind)].second; }

std::string all_hamiltonian_kinds() {
  std::string result;
  for (const auto& [kind, text] : kinds) {
    const bool last = kind == kinds.back().first;
    result += fmt::format("{}{}", result.empty() ? "" : last ? " or " : ", ", text);
  }
  return result;
}

HamiltonianKind parse_hamiltonian_kind(std::string_view text) {
  for (const auto& [kind, candidate] : kinds) {
    if (text == candidate) return kind;
  }
  throw ArgumentError(fmt::format("'{}' is unknown; expected {}", text, all_hamiltonian_kinds()));
}

Index asked_size(const HamiltonianRequest& request, const std::function<bool(Index)>& exists) {
  if (!request.size) throw ArgumentError(fmt::format("--size is missing: how many sites has {}?", name(request.kind)));
  const Index size = *request.size;
  try {
    if (size > 0) static_cast<void>(layout::elements({size, size}));
  } catch (const LayoutError& error) {
    throw ArgumentError(fmt::format("--size: {}", error.what()));
  }
  if (size >= 0 && exists(size)) return size;
  Index below = size;  // every kind has sizes beyond any other
  while (below > 0 && !exists(below)) --below;
  Index above = std::max(size, Index{0});
  while (!exists(above)) ++above;
  const auto nearest = below > 0 ? fmt::format("{} and {}", below, above) : fmt::format("{}", above);
  throw ArgumentError(fmt::format("--size is {}, but {} can't have as many sites; the nearest numbers are {}", size,
                                  name(request.kind), nearest));
}

void expect_no_gap(const HamiltonianRequest& request) {
  expect_none(request.gap.has_value(), "--gap", request.kind, "polyacetylene, graphene and prescribed");
}

void expect_no_filling(const HamiltonianRequest& request) {
  expect_none(request.filling.has_value(), "--filling", request.kind, "prescribed");
}

void expect_no_seed(const HamiltonianRequest& request) {
  expect_none(request.seed.has_value(), "--seed", request.kind, "prescribed");
}

Hamiltonian make_hamiltonian(const HamiltonianRequest& request) {
  switch (request.kind) {
    case HamiltonianKind::c60:
    case HamiltonianKind::fullerene: return make_fullerene(request);
    case HamiltonianKind::polyacetylene: return make_polyacetylene(request);
    case HamiltonianKind::graphene: return make_graphene(request);
    case HamiltonianKind::prescribed: return make_prescribed(request);
  }
  throw ArgumentError("--kind is none of its values");
}

}  // namespace plait::cli
