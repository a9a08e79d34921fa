#pragma once

#include <array>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "plait/base/dtype.hpp"
#include "plait/base/index.hpp"
#include "plait/mpi/context.hpp"

namespace plait::mpi {

/// "f64", "c128", "i32": what messages call an element type.
template <class T>
[[nodiscard]] constexpr std::string_view type_name() {
  if constexpr (Number<T>) return name(dtype_of<T>());
  return sizeof(T) == 2 ? "bf16" : "another";
}

/// Arguments that all ranks have to give alike: an element type, scalars, options. Two numbers stand for all of them,
/// so that they ride along in an agreement that is made anyway (see `agreed`).
class Alike {
 public:
  /// \param name   a literal, which is kept as it is
  /// \param value  a number, a bool or an enumerator, which messages show
  /// \param pair   the number of the pair of matrices that it belongs to, where there are several
  template <class T>
    requires std::is_arithmetic_v<T> || std::is_enum_v<T> || std::is_same_v<T, std::complex<float>> ||
             std::is_same_v<T, std::complex<double>>
  void add(std::string_view name, const T& value, Index pair = -1) {
    if constexpr (std::is_enum_v<T>) {
      add(name, static_cast<Index>(value), pair);
    } else if constexpr (std::is_integral_v<T>) {
      add_bytes<std::conditional_t<std::is_signed_v<T>, std::int64_t, std::uint64_t>>(name, value, pair);
    } else {
      add_bytes<T>(name, value, pair);
    }
  }
  /// \param text  a literal, too
  void add(std::string_view name, std::string_view text, Index pair = -1) { take({name, pair, {}, nullptr, text}); }
  template <class T>
  void add_type() {
    add("element type", type_name<T>());
  }
  /// What the numbers of pairs are from here on: of a "step", for example.
  void numbers(std::string_view what) noexcept { numbered_ = what; }
  /// As it was at first, but for the memory that it has.
  void clear() noexcept;

  /// Of names and values, not negative; that of ranks with other ones is another one, but for one case in 2^63.
  [[nodiscard]] Index digest() const noexcept { return static_cast<Index>(state_ >> 1); }

  /// Collective over the context, where ranks have different digests.
  /// \throws ArgumentError  on all ranks, naming the first argument that differs from rank 0's, and both values
  [[noreturn]] void throw_difference(Context& context) const;

 private:
  using Bytes = std::array<std::byte, 16>;
  using Describe = std::string (*)(const Bytes&);
  struct Value {
    std::string_view name;
    Index pair = -1;
    Bytes bytes{};
    Describe describe = nullptr;  // else `text`
    std::string_view text{};
  };

  template <class T>
  void add_bytes(std::string_view name, const T& value, Index pair) {
    Value added{name, pair, {}, describe<T>, {}};
    std::memcpy(added.bytes.data(), &value, sizeof(T));
    take(added);
  }
  template <class T>
  static std::string describe(const Bytes& bytes);
  void take(const Value& value);
  [[nodiscard]] std::string text_of(const Value& value) const;

  // The first ones here, as most calls have few, and an operation that is repeated is to allocate nothing.
  std::array<Value, 20> first_;
  std::size_t count_ = 0;
  std::vector<Value> more_;
  std::uint64_t state_ = 0;
  std::string_view numbered_ = "pair";
};

}  // namespace plait::mpi
