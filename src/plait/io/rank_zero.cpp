#include "plait/io/rank_zero.hpp"

namespace plait::io {

std::string text_of_rank_zero(mpi::Context& context, const std::string& text) {
  const auto length = told_by_rank_zero(context, [&] { return text.size(); });
  auto result = mpi::agreed(context, [&] { return context.rank() == 0 ? text : std::string(length, '\0'); });
  mpi::broadcast(context.comm(), std::span<char>(result), 0);
  return result;
}

}  // namespace plait::io
