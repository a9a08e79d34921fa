#pragma once

#include "plait/base/index.hpp"
#include "plait/model/choice.hpp"
#include "plait/model/known_alternatives.hpp"
#include "plait/mpi/context.hpp"

namespace plait::collective {

/// How an operation among ranks of a context is carried out, by the description of the machine that the context has. A
/// function of what all ranks know, so that all choose the same; told to the context's listener, if it has one.
///
/// \throws ArgumentError  as `model::choose`
template <model::Algorithm A>
[[nodiscard]] model::Choice<A> choose(mpi::Context& context, const model::Placement& placement, Index bytes,
                                      const model::Wishes<A>& wishes = {}) {
  auto choice = model::choose<A>(context.machine(), context.choices().alternatives().of<A>(placement), bytes, wishes);
  if (context.choices().are_told()) context.choices().note(model::describe(choice, placement, bytes));
  return choice;
}

}  // namespace plait::collective
