#include "plait/collective/node/node_arguments.hpp"

#include <array>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "plait/base/error.hpp"

namespace plait::collective {

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
    {"reduction", 0, NodeArguments::element_at, reduction_name},
    {"element type", NodeArguments::element_at, NodeArguments::operation_at, element_name},
    {"operation", NodeArguments::operation_at, NodeArguments::n_at, operation_name},
    {"n", NodeArguments::n_at, NodeArguments::root_at, number},
    {"root", NodeArguments::root_at, 64, number},
}};

}  // namespace

void NodeArguments::throw_difference(int rank, NodeArguments of_first) const {
  for (const NodeArguments one : {of_first, *this}) {
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

}  // namespace plait::collective
