#include "plait/purify/method.hpp"

#include <array>

#include <fmt/format.h>

#include "plait/base/error.hpp"

namespace plait::purify {

namespace {

constexpr std::array methods{Method::canonical, Method::mcweeny, Method::tc2, Method::trs4, Method::hpcp};

}  // namespace

std::string_view name(Method method) noexcept {
  constexpr std::array<std::string_view, methods.size()> names{"canonical", "mcweeny", "tc2", "trs4", "hpcp"};
  return names[static_cast<std::size_t>(method)];
}

Method parse_method(std::string_view text) {
  for (const Method method : methods) {
    if (text == name(method)) return method;
  }
  throw ArgumentError(fmt::format("'{}' is no method; expected canonical, mcweeny, tc2, trs4 or hpcp", text));
}

Method choose_method(Index occupied, Index states, bool knows_frontier) noexcept {
  // Away from half filling canonical purification takes more steps, and a step of TC2 is but one product.
  const double filling = states > 0 ? static_cast<double>(occupied) / static_cast<double>(states) : 0.5;
  return !knows_frontier && filling > 0.4 && filling < 0.6 ? Method::canonical : Method::tc2;
}

}  // namespace plait::purify
