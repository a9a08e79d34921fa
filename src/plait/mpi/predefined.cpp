#include "plait/mpi/predefined.hpp"

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "plait/base/contract.hpp"

namespace plait::mpi {

namespace {

using simd::Element;
using simd::ReduceOperation;

/// What is known of a few handles of MPI, whether they are numbers (MPICH) or addresses (Open MPI). It is filled once
/// and then found in by any thread, in a few nanoseconds.
template <class Handle, class Value, std::size_t slots>
  requires(std::has_single_bit(slots))
class HandleTable {
 public:
  /// Of two values for one handle the first stays. `none` is the handle that stands for no object, and never found.
  explicit HandleTable(Handle none) : none_(none) { handles_.fill(none); }

  void add(Handle handle, Value value) {
    const std::size_t at = slot(handle);
    if (handle == none_ || handles_[at] == handle) return;
    ++used_;
    PLAIT_ASSERT(used_ < slots, "a slot stays free, where a search ends");
    handles_[at] = handle;
    values_[at] = value;
  }

  [[nodiscard]] const Value* find(Handle handle) const noexcept {
    const std::size_t at = slot(handle);
    return handle != none_ && handles_[at] == handle ? &values_[at] : nullptr;
  }

 private:
  // Where the handle is, or where it would be.
  [[nodiscard]] std::size_t slot(Handle handle) const noexcept {
    std::uint64_t key = 0;
    if constexpr (std::is_pointer_v<Handle>) {
      key = reinterpret_cast<std::uintptr_t>(handle);
    } else {
      key = static_cast<std::uint64_t>(handle);
    }
    constexpr std::uint64_t golden = 0x9e3779b97f4a7c15U;  // spreads regular keys: Knuth, volume 3, section 6.4
    std::size_t at = key * golden >> (64 - std::countr_zero(slots));
    while (handles_[at] != handle && handles_[at] != none_) at = (at + 1) % slots;
    return at;
  }

  std::array<Handle, slots> handles_{};
  std::array<Value, slots> values_{};
  Handle none_;
  std::size_t used_ = 0;
};

/// The classes of types by which the standard says what an operation is defined on.
enum class Group : unsigned char {
  c_integer,
  fortran_integer,
  floating_point,
  logical,
  complex,
  byte,
  multi_language,
  pair,
};

struct Type {
  Element element;
  Group group;
};

// MPICH defines logical operations on more than the standard does; Open MPI refuses them on INTEGER.
#if defined(MPICH_VERSION)
constexpr bool takes_all_integers_for_true_or_false = true;
#else
constexpr bool takes_all_integers_for_true_or_false = false;
#endif

bool is_defined(ReduceOperation operation, Group group) {
  switch (operation) {
    case ReduceOperation::max:
    case ReduceOperation::min:
      return group == Group::c_integer || group == Group::fortran_integer || group == Group::floating_point ||
             group == Group::multi_language;
    case ReduceOperation::sum:
    case ReduceOperation::prod:
      return group == Group::c_integer || group == Group::fortran_integer || group == Group::floating_point ||
             group == Group::multi_language || group == Group::complex;
    case ReduceOperation::band:
    case ReduceOperation::bor:
    case ReduceOperation::bxor:
      return group == Group::c_integer || group == Group::fortran_integer || group == Group::byte ||
             group == Group::multi_language;
    case ReduceOperation::land:
    case ReduceOperation::lor:
    case ReduceOperation::lxor:
      return group == Group::c_integer || group == Group::logical ||
             (takes_all_integers_for_true_or_false &&
              (group == Group::fortran_integer || group == Group::multi_language));
    case ReduceOperation::maxloc:
    case ReduceOperation::minloc: return group == Group::pair;
    case ReduceOperation::replace:
    case ReduceOperation::no_op: return false;  // of one-sided communication only
  }
  return false;
}

template <class T>
constexpr Element integer() {
  constexpr bool has_sign = std::is_signed_v<T>;
  switch (sizeof(T)) {
    case 1: return has_sign ? Element::int8 : Element::uint8;
    case 2: return has_sign ? Element::int16 : Element::uint16;
    case 4: return has_sign ? Element::int32 : Element::uint32;
    default: return has_sign ? Element::int64 : Element::uint64;
  }
}

using Types = HandleTable<MPI_Datatype, Type, 256>;

void add_types_of_c(Types& types) {
  const auto c_integer = [&types](MPI_Datatype type, Element element) { types.add(type, {element, Group::c_integer}); };
  c_integer(MPI_SIGNED_CHAR, Element::int8);
  c_integer(MPI_UNSIGNED_CHAR, Element::uint8);
  c_integer(MPI_SHORT, integer<short>());
  c_integer(MPI_UNSIGNED_SHORT, integer<unsigned short>());
  c_integer(MPI_INT, integer<int>());
  c_integer(MPI_UNSIGNED, integer<unsigned>());
  c_integer(MPI_LONG, integer<long>());
  c_integer(MPI_UNSIGNED_LONG, integer<unsigned long>());
  c_integer(MPI_LONG_LONG, integer<long long>());
  c_integer(MPI_UNSIGNED_LONG_LONG, integer<unsigned long long>());
  c_integer(MPI_INT8_T, Element::int8);
  c_integer(MPI_INT16_T, Element::int16);
  c_integer(MPI_INT32_T, Element::int32);
  c_integer(MPI_INT64_T, Element::int64);
  c_integer(MPI_UINT8_T, Element::uint8);
  c_integer(MPI_UINT16_T, Element::uint16);
  c_integer(MPI_UINT32_T, Element::uint32);
  c_integer(MPI_UINT64_T, Element::uint64);

  types.add(MPI_FLOAT, {Element::float32, Group::floating_point});
  types.add(MPI_DOUBLE, {Element::float64, Group::floating_point});
  types.add(MPI_LONG_DOUBLE, {Element::long_double, Group::floating_point});
  types.add(MPI_C_FLOAT_COMPLEX, {Element::complex64, Group::complex});
  types.add(MPI_C_DOUBLE_COMPLEX, {Element::complex128, Group::complex});
  types.add(MPI_CXX_FLOAT_COMPLEX, {Element::complex64, Group::complex});
  types.add(MPI_CXX_DOUBLE_COMPLEX, {Element::complex128, Group::complex});
  types.add(MPI_C_BOOL, {Element::boolean, Group::logical});
  types.add(MPI_CXX_BOOL, {Element::boolean, Group::logical});
  types.add(MPI_BYTE, {Element::uint8, Group::byte});
  types.add(MPI_AINT, {integer<MPI_Aint>(), Group::multi_language});
  types.add(MPI_OFFSET, {integer<MPI_Offset>(), Group::multi_language});
  types.add(MPI_COUNT, {integer<MPI_Count>(), Group::multi_language});

  types.add(MPI_FLOAT_INT, {Element::float_int, Group::pair});
  types.add(MPI_DOUBLE_INT, {Element::double_int, Group::pair});
  types.add(MPI_LONG_INT, {Element::long_int, Group::pair});
  types.add(MPI_SHORT_INT, {Element::short_int, Group::pair});
  types.add(MPI_2INT, {Element::int_int, Group::pair});
  types.add(MPI_LONG_DOUBLE_INT, {Element::long_double_int, Group::pair});
}

// An MPI that was built without Fortran has null in place of these.
void add_types_of_fortran(Types& types) {
  types.add(MPI_INTEGER, {integer<MPI_Fint>(), Group::fortran_integer});
  types.add(MPI_INTEGER1, {Element::int8, Group::fortran_integer});
  types.add(MPI_INTEGER2, {Element::int16, Group::fortran_integer});
  types.add(MPI_INTEGER4, {Element::int32, Group::fortran_integer});
  types.add(MPI_INTEGER8, {Element::int64, Group::fortran_integer});
  types.add(MPI_REAL, {Element::float32, Group::floating_point});
  types.add(MPI_REAL4, {Element::float32, Group::floating_point});
  types.add(MPI_REAL8, {Element::float64, Group::floating_point});
  types.add(MPI_DOUBLE_PRECISION, {Element::float64, Group::floating_point});
  types.add(MPI_COMPLEX, {Element::complex64, Group::complex});
  types.add(MPI_COMPLEX8, {Element::complex64, Group::complex});
  types.add(MPI_COMPLEX16, {Element::complex128, Group::complex});
  types.add(MPI_DOUBLE_COMPLEX, {Element::complex128, Group::complex});
  if constexpr (sizeof(MPI_Fint) == 4) {
    types.add(MPI_LOGICAL, {Element::logical, Group::logical});
    types.add(MPI_2INTEGER, {Element::int_int, Group::pair});
  }
  types.add(MPI_2REAL, {Element::float_float, Group::pair});
  types.add(MPI_2DOUBLE_PRECISION, {Element::double_double, Group::pair});
}

Types all_types() {
  Types types(MPI_DATATYPE_NULL);
  add_types_of_c(types);
  add_types_of_fortran(types);
  return types;
}

using Operations = HandleTable<MPI_Op, ReduceOperation, 32>;

Operations all_operations() {
  Operations operations(MPI_OP_NULL);
  operations.add(MPI_MAX, ReduceOperation::max);
  operations.add(MPI_MIN, ReduceOperation::min);
  operations.add(MPI_SUM, ReduceOperation::sum);
  operations.add(MPI_PROD, ReduceOperation::prod);
  operations.add(MPI_BAND, ReduceOperation::band);
  operations.add(MPI_BOR, ReduceOperation::bor);
  operations.add(MPI_BXOR, ReduceOperation::bxor);
  operations.add(MPI_LAND, ReduceOperation::land);
  operations.add(MPI_LOR, ReduceOperation::lor);
  operations.add(MPI_LXOR, ReduceOperation::lxor);
  operations.add(MPI_MAXLOC, ReduceOperation::maxloc);
  operations.add(MPI_MINLOC, ReduceOperation::minloc);
  return operations;
}

}  // namespace

std::optional<PredefinedReduction> predefined_reduction(MPI_Op operation, MPI_Datatype type) noexcept {
  static const Types types = all_types();
  static const Operations operations = all_operations();
  const ReduceOperation* const known_operation = operations.find(operation);
  const Type* const known_type = types.find(type);
  if (known_operation == nullptr || known_type == nullptr) return std::nullopt;
  if (!is_defined(*known_operation, known_type->group)) return std::nullopt;
  return PredefinedReduction{*known_operation, known_type->element};
}

simd::ReduceKernel* reduce_kernel(MPI_Op operation, MPI_Datatype type) {
  const auto reduction = predefined_reduction(operation, type);
  return reduction ? simd::reduce_kernel(reduction->operation, reduction->element) : nullptr;
}

}  // namespace plait::mpi
