#include "plait/io/rank_zero.hpp"

#include <string_view>

#include "plait/base/error.hpp"

namespace plait::io {

void agree_with_rank_zero(mpi::Context& context, const std::exception_ptr& failure) {
  try {
    mpi::agree(context, failure);
  } catch (const OutOfMemory&) {
    throw;
  } catch (const std::exception& error) {
    constexpr std::string_view prefix = "rank 0: ";  // as not all ranks failed, unless there is no other
    std::string_view text = error.what();
    if (context.size() > 1 && text.starts_with(prefix)) text.remove_prefix(prefix.size());
    throw_error(current_error_kind(), std::string(text));
  }
}

std::string text_of_rank_zero(mpi::Context& context, const std::string& text) {
  const auto length = told_by_rank_zero(context, [&] { return text.size(); });
  auto result = mpi::agreed(context, [&] { return context.rank() == 0 ? text : std::string(length, '\0'); });
  mpi::broadcast(context.comm(), std::span<char>(result), 0);
  return result;
}

}  // namespace plait::io
