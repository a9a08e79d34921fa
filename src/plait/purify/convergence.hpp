#pragma once

#include <span>

#include "plait/base/index.hpp"
#include "plait/purify/occupation.hpp"

namespace plait::purify {

/// One iterate X, and the step that was made from it.
struct Iterate {
  double trace = 0;
  double idempotency_error = 0;  ///< ‖X - X²‖, Frobenius
  double missing_trace = 0;      ///< tr(X - X²): how far its eigenvalues are from 0 and 1, all together
  double energy = 0;             ///< tr(XH)
  bool settled = false;          ///< it is certain that every state goes to where it belongs
  Polynomial step{};             ///< of the last iterate: none, all 0
  double seconds = 0;            ///< that it took to get from here to the next
  friend bool operator==(const Iterate&, const Iterate&) = default;
};

/// Whether each state is so close to 0 or 1 that steps of order 2 bring it there, and `occupied` of them to 1.
[[nodiscard]] bool is_settled(const Iterate& iterate, Index occupied) noexcept;

/// True if the last iterate is as good as rounding allows. Without rounding, the errors e of settled iterates obey
///   e_i <= 4 e_(i-1)²          after a step 3X² - 2X³, as x'(1 - x') = e²(3 + 4e) with e = x(1 - x) <= 1/4;
///   e_i <= 4.41 e_(i-2)²       after X² and 2X - X² in either order, as there x''(1 - x'') = e²(1 + x)²(2 - x²),
/// state by state, and so in the Frobenius norm. An iterate that does not is dominated by rounding, and no later one is
/// better. Nothing has to be chosen, and slow progress before the end is not mistaken for it.
///
/// Source: Kruchinina, Rudberg, Rubensson, "Parameterless stopping criteria for recursive density matrix expansions",
/// JCTC 12, 5788 (2016); the constants are those of the steps above.
[[nodiscard]] bool is_converged(std::span<const Iterate> iterates) noexcept;

/// Whether a further step after this one can be expected to end at rounding errors: then only its error is to be
/// looked at, not its cube.
[[nodiscard]] bool is_next_to_last(std::span<const Iterate> iterates) noexcept;

}  // namespace plait::purify
