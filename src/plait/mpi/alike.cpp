#include "plait/mpi/alike.hpp"

#include <algorithm>
#include <exception>
#include <span>
#include <utility>

#include <fmt/format.h>

#include "plait/base/error.hpp"
#include "plait/base/random.hpp"
#include "plait/mpi/agreed.hpp"
#include "plait/mpi/collectives.hpp"

namespace plait::mpi {

namespace {

template <class T>
std::string number_text(const T& value) {
  return fmt::format("{}", value);
}
template <class T>
std::string number_text(const std::complex<T>& value) {
  return fmt::format("{}{:+}i", value.real(), value.imag());
}

std::uint64_t mixed(std::uint64_t state, const void* data, std::size_t size) {
  const auto* bytes = static_cast<const std::byte*>(data);
  state = random_bits(state, size);
  for (std::size_t i = 0; i < size; i += sizeof(std::uint64_t)) {
    std::uint64_t word = 0;
    std::memcpy(&word, bytes + i, std::min(sizeof word, size - i));
    state = random_bits(state, word);
  }
  return state;
}

}  // namespace

template <class T>
std::string Alike::describe(const Bytes& bytes) {
  T value;
  std::memcpy(&value, bytes.data(), sizeof(T));
  return number_text(value);
}

void Alike::clear() noexcept {
  count_ = 0;
  more_.clear();
  state_ = 0;
}

void Alike::take(const Value& value) {
  state_ = random_bits(state_, static_cast<std::uint64_t>(value.pair));
  state_ = mixed(state_, value.name.data(), value.name.size());
  state_ = mixed(state_, value.bytes.data(), value.bytes.size());
  state_ = mixed(state_, value.text.data(), value.text.size());
  if (count_ < first_.size()) {
    first_[count_] = value;
  } else {
    more_.push_back(value);
  }
  ++count_;
}

std::string Alike::text_of(const Value& value) const {
  return fmt::format("{}{}: is {}", value.pair < 0 ? "" : fmt::format("{} {}: ", numbered_, value.pair), value.name,
                     value.describe != nullptr ? value.describe(value.bytes) : value.text);
}

void Alike::throw_difference(Context& context) const {
  const Communicator& comm = context.comm();
  std::string own;
  for (std::size_t i = 0; i < count_; ++i) {
    own += text_of(i < first_.size() ? first_[i] : more_[i - first_.size()]) + '\n';
  }
  std::string first = own;
  auto length = static_cast<Index>(first.size());
  broadcast(comm, std::span<Index>(&length, 1), 0);
  first.resize(static_cast<std::size_t>(length));
  broadcast(comm, std::span<char>(first), 0);
  std::exception_ptr failure;
  if (own != first) {
    const auto lines = std::ranges::mismatch(own, first);
    const auto line_of = [](const std::string& text, std::size_t at) {
      const std::size_t begin = at == 0 ? 0 : text.rfind('\n', at - 1) + 1;  // after none it is 0
      return text.substr(begin, text.find('\n', begin) - begin);
    };
    const std::string mine = line_of(own, static_cast<std::size_t>(lines.in1 - own.begin()));
    const std::string theirs = line_of(first, static_cast<std::size_t>(lines.in2 - first.begin()));
    const std::size_t of_value = theirs.find(": is ");
    failure = std::make_exception_ptr(
        ArgumentError(fmt::format("{}, but {} on rank 0; expected the same on all ranks", mine,
                                  of_value == std::string::npos ? "nothing" : theirs.substr(of_value + 5))));
  }
  const int lowest = all_reduce(comm, failure ? comm.rank() : comm.size(), Operation::minimum());
  context.catch_up_with_tags();
  if (lowest == comm.size()) throw ArgumentError("the ranks give different arguments, expected the same on all ranks");
  throw_failure_of(comm, lowest, failure);
}

template std::string Alike::describe<std::int64_t>(const Bytes&);
template std::string Alike::describe<std::uint64_t>(const Bytes&);
template std::string Alike::describe<float>(const Bytes&);
template std::string Alike::describe<double>(const Bytes&);
template std::string Alike::describe<std::complex<float>>(const Bytes&);
template std::string Alike::describe<std::complex<double>>(const Bytes&);

}  // namespace plait::mpi
