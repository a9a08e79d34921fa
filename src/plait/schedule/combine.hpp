#pragma once

#include <cstddef>
#include <optional>
#include <string_view>
#include <type_traits>

#include "plait/base/index.hpp"
#include "plait/mpi/alike.hpp"
#include "plait/mpi/reduction.hpp"
#include "plait/simd/exact/reproducible_sum.hpp"
#include "plait/simd/isa.hpp"
#include "plait/simd/reduce/element.hpp"
#include "plait/simd/reduce/reduce.hpp"

namespace plait::schedule {

/// out[i] ← a[i] op b[i], an associative operation on elements of one size: one of MPI's, by its vector kernel, or a
/// caller's own. Cheap to copy; making one of MPI's costs a look into a table, so that callers who count nanoseconds
/// keep it. Or the sum of all operands at once, which is rounded but once, so that their order does not matter.
class Combine {
 public:
  /// `out` overlaps neither `a` nor `b`, or is one of them.
  using Function = void (*)(const void* state, Index n, const void* a, const void* b, void* out);

  /// \throws ArgumentError  MPI does not define the operation on such elements
  Combine(simd::ReduceOperation operation, simd::Element element, simd::Isa isa = simd::selected_isa());

  /// Any of MPI's operations, on any of its types, a user's own included: these live as long as this.
  /// \throws MpiError  the handle is no operation
  Combine(const mpi::Reduction& reduction);  // NOLINT(google-explicit-constructor): it is one

  /// A caller's own, whose `state` outlives this.
  /// \pre  element_bytes >= 1
  Combine(Function function, const void* state, Index element_bytes, bool may_throw) noexcept
      : function_(function), state_(state), element_bytes_(element_bytes), may_throw_(may_throw), commutes_(false) {}

  /// T f(T, T) on each pair of elements; `f` outlives this.
  template <class T, class F>
    requires std::is_trivially_copyable_v<T> && std::is_invocable_r_v<T, const F&, const T&, const T&>
  [[nodiscard]] static Combine elementwise(const F& f) noexcept {
    static_assert(alignof(T) <= alignof(std::max_align_t), "elements lie at any multiple of the usual alignment");
    const Function function = [](const void* state, Index n, const void* a, const void* b, void* out) {
      const F& combined = *static_cast<const F*>(state);
      const T* left = static_cast<const T*>(a);
      const T* right = static_cast<const T*>(b);
      T* result = static_cast<T*>(out);
      for (Index i = 0; i < n; ++i) result[i] = combined(left[i], right[i]);
    };
    return {function, &f, Index{sizeof(T)}, !std::is_nothrow_invocable_r_v<T, const F&, const T&, const T&>};
  }

  /// The exact sum of all operands, rounded once: the same bits whatever their order (see
  /// `simd::ReproducibleSumKernel`).
  /// \throws ArgumentError  the element is no real or complex number of 32 or 64 bits a part
  [[nodiscard]] static Combine reproducible_sum(simd::Element element, simd::Isa isa = simd::selected_isa());

  [[nodiscard]] Index element_bytes() const noexcept { return element_bytes_; }
  /// What ranks compare, and messages show, of an operation and its elements: a number below 16 and 32.
  struct Name {
    unsigned char operation = own;
    unsigned char element = own_element;
    static constexpr unsigned char own = 15;
    static constexpr unsigned char own_element = 31;
    static constexpr unsigned char exact_sum = 14;
    /// "sum", "exact sum"; "a caller's own".
    [[nodiscard]] std::string_view operation_text() const noexcept;
    [[nodiscard]] std::string_view element_text() const noexcept;
  };
  [[nodiscard]] Name name() const noexcept { return name_; }
  void name_arguments(mpi::Alike& arguments, Index number = -1) const;

  /// What it was made from, if that is MPI's.
  [[nodiscard]] std::optional<mpi::Reduction> of_mpi() const noexcept;
  [[nodiscard]] bool may_throw() const noexcept { return may_throw_; }

  /// Whether operands may be exchanged. Of a caller's own operation that is not known: its operands keep their order,
  /// which some algorithms can't do, unless it is told that they need not.
  [[nodiscard]] bool commutes() const noexcept { return commutes_; }
  [[nodiscard]] Combine in_any_order() const noexcept {
    Combine other = *this;
    other.commutes_ = true;
    return other;
  }

  /// The kernel that takes all operands at once, if that is how they are to be combined.
  [[nodiscard]] simd::ReproducibleSumKernel* sum_of_all() const noexcept { return sum_of_all_; }

  /// \pre  sum_of_all() == nullptr
  void operator()(Index n, const void* a, const void* b, void* out) const {
    if (kernel_ != nullptr) {
      kernel_(n, a, b, out);
    } else if (function_ != nullptr) {
      function_(state_, n, a, b, out);
    } else {
      by_mpi(n, a, b, out);
    }
  }

 private:
  Combine(simd::ReproducibleSumKernel* kernel, simd::Element element) noexcept
      : sum_of_all_(kernel),
        element_bytes_(simd::size_in_bytes(element)),
        name_{Name::exact_sum, static_cast<unsigned char>(element)} {}
  void by_mpi(Index n, const void* a, const void* b, void* out) const;

  simd::CombineKernel* kernel_ = nullptr;
  simd::ReproducibleSumKernel* sum_of_all_ = nullptr;
  Function function_ = nullptr;
  const void* state_ = nullptr;
  MPI_Op operation_ = MPI_OP_NULL;
  MPI_Datatype type_ = MPI_DATATYPE_NULL;
  Index element_bytes_;
  bool may_throw_ = false;
  bool commutes_ = true;
  Name name_;
};

}  // namespace plait::schedule
