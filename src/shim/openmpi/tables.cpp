#include "shim/openmpi/tables.hpp"

#include <algorithm>
#include <array>
#include <cwchar>
#include <type_traits>

namespace plait::shim::openmpi {

namespace {

using simd::Element;
using simd::ReduceOperation;

struct Row {
  MPI_Op handle;
  Operation operation;
};

constexpr std::optional<Element> signed_integer(std::size_t bytes) {
  switch (bytes) {
    case 1: return Element::int8;
    case 2: return Element::int16;
    case 4: return Element::int32;
    case 8: return Element::int64;
    default: return std::nullopt;
  }
}

constexpr std::optional<Element> unsigned_integer(std::size_t bytes) {
  switch (bytes) {
    case 1: return Element::uint8;
    case 2: return Element::uint16;
    case 4: return Element::uint32;
    case 8: return Element::uint64;
    default: return std::nullopt;
  }
}

constexpr std::optional<Element> real(std::size_t bytes) {
  switch (bytes) {
    case 2: return Element::float16;
    case 4: return Element::float32;
    case 8: return Element::float64;
    default: return std::nullopt;
  }
}

constexpr std::optional<Element> pair_of_reals(std::size_t bytes) {
  switch (bytes) {
    case 4: return Element::float_float;
    case 8: return Element::double_double;
    default: return std::nullopt;
  }
}

constexpr std::optional<Element> if_of_size(std::size_t bytes, std::size_t expected, Element element) {
  return bytes == expected ? std::optional(element) : std::nullopt;
}

// Of the sizes that Fortran's types had when Open MPI was built. Those that its compiler did not have are given a size,
// too; there are no functions for them.
// NOLINTBEGIN(bugprone-branch-clone): which of them are the same depends on that build
constexpr std::optional<Element> element_in(std::size_t type) {
  switch (type) {
    case OMPI_OP_BASE_TYPE_INT8_T: return Element::int8;
    case OMPI_OP_BASE_TYPE_UINT8_T: return Element::uint8;
    case OMPI_OP_BASE_TYPE_INT16_T: return Element::int16;
    case OMPI_OP_BASE_TYPE_UINT16_T: return Element::uint16;
    case OMPI_OP_BASE_TYPE_INT32_T: return Element::int32;
    case OMPI_OP_BASE_TYPE_UINT32_T: return Element::uint32;
    case OMPI_OP_BASE_TYPE_INT64_T: return Element::int64;
    case OMPI_OP_BASE_TYPE_UINT64_T: return Element::uint64;
    case OMPI_OP_BASE_TYPE_LONG: return signed_integer(sizeof(long));
    case OMPI_OP_BASE_TYPE_UNSIGNED_LONG: return unsigned_integer(sizeof(long));
    case OMPI_OP_BASE_TYPE_BYTE: return Element::uint8;
    case OMPI_OP_BASE_TYPE_WCHAR:
      return std::is_signed_v<wchar_t> ? signed_integer(sizeof(wchar_t)) : unsigned_integer(sizeof(wchar_t));

    case OMPI_OP_BASE_TYPE_INTEGER: return signed_integer(OMPI_SIZEOF_FORTRAN_INTEGER);
    case OMPI_OP_BASE_TYPE_INTEGER1: return signed_integer(OMPI_SIZEOF_FORTRAN_INTEGER1);
    case OMPI_OP_BASE_TYPE_INTEGER2: return signed_integer(OMPI_SIZEOF_FORTRAN_INTEGER2);
    case OMPI_OP_BASE_TYPE_INTEGER4: return signed_integer(OMPI_SIZEOF_FORTRAN_INTEGER4);
    case OMPI_OP_BASE_TYPE_INTEGER8: return signed_integer(OMPI_SIZEOF_FORTRAN_INTEGER8);
    case OMPI_OP_BASE_TYPE_INTEGER16: return signed_integer(OMPI_SIZEOF_FORTRAN_INTEGER16);

    case OMPI_OP_BASE_TYPE_FLOAT: return Element::float32;
    case OMPI_OP_BASE_TYPE_DOUBLE: return Element::float64;
    case OMPI_OP_BASE_TYPE_LONG_DOUBLE: return Element::long_double;
    case OMPI_OP_BASE_TYPE_REAL: return real(OMPI_SIZEOF_FORTRAN_REAL);
    case OMPI_OP_BASE_TYPE_REAL2: return real(OMPI_SIZEOF_FORTRAN_REAL2);
    case OMPI_OP_BASE_TYPE_REAL4: return real(OMPI_SIZEOF_FORTRAN_REAL4);
    case OMPI_OP_BASE_TYPE_REAL8: return real(OMPI_SIZEOF_FORTRAN_REAL8);
    case OMPI_OP_BASE_TYPE_REAL16: return real(OMPI_SIZEOF_FORTRAN_REAL16);
    case OMPI_OP_BASE_TYPE_DOUBLE_PRECISION: return real(OMPI_SIZEOF_FORTRAN_DOUBLE_PRECISION);

    case OMPI_OP_BASE_TYPE_LOGICAL: return if_of_size(OMPI_SIZEOF_FORTRAN_LOGICAL, 4, Element::logical);
    case OMPI_OP_BASE_TYPE_BOOL: return if_of_size(sizeof(bool), 1, Element::boolean);

    case OMPI_OP_BASE_TYPE_C_FLOAT_COMPLEX: return Element::complex64;
    case OMPI_OP_BASE_TYPE_C_DOUBLE_COMPLEX: return Element::complex128;

    case OMPI_OP_BASE_TYPE_2REAL: return pair_of_reals(OMPI_SIZEOF_FORTRAN_REAL);
    case OMPI_OP_BASE_TYPE_2DOUBLE_PRECISION: return pair_of_reals(OMPI_SIZEOF_FORTRAN_DOUBLE_PRECISION);
    case OMPI_OP_BASE_TYPE_2INTEGER: return if_of_size(OMPI_SIZEOF_FORTRAN_INTEGER, 4, Element::int_int);
    case OMPI_OP_BASE_TYPE_FLOAT_INT: return Element::float_int;
    case OMPI_OP_BASE_TYPE_DOUBLE_INT: return Element::double_int;
    case OMPI_OP_BASE_TYPE_LONG_INT: return Element::long_int;
    case OMPI_OP_BASE_TYPE_2INT: return Element::int_int;
    case OMPI_OP_BASE_TYPE_SHORT_INT: return Element::short_int;
    case OMPI_OP_BASE_TYPE_LONG_DOUBLE_INT: return Element::long_double_int;

    default: return std::nullopt;
  }
}
// NOLINTEND(bugprone-branch-clone)

}  // namespace

std::optional<Operation> operation_of(MPI_Op op) noexcept {
  const std::array<Row, 12> rows{{{MPI_MAX, {ReduceOperation::max, OMPI_OP_BASE_FORTRAN_MAX}},
                                  {MPI_MIN, {ReduceOperation::min, OMPI_OP_BASE_FORTRAN_MIN}},
                                  {MPI_SUM, {ReduceOperation::sum, OMPI_OP_BASE_FORTRAN_SUM}},
                                  {MPI_PROD, {ReduceOperation::prod, OMPI_OP_BASE_FORTRAN_PROD}},
                                  {MPI_LAND, {ReduceOperation::land, OMPI_OP_BASE_FORTRAN_LAND}},
                                  {MPI_BAND, {ReduceOperation::band, OMPI_OP_BASE_FORTRAN_BAND}},
                                  {MPI_LOR, {ReduceOperation::lor, OMPI_OP_BASE_FORTRAN_LOR}},
                                  {MPI_BOR, {ReduceOperation::bor, OMPI_OP_BASE_FORTRAN_BOR}},
                                  {MPI_LXOR, {ReduceOperation::lxor, OMPI_OP_BASE_FORTRAN_LXOR}},
                                  {MPI_BXOR, {ReduceOperation::bxor, OMPI_OP_BASE_FORTRAN_BXOR}},
                                  {MPI_MAXLOC, {ReduceOperation::maxloc, OMPI_OP_BASE_FORTRAN_MAXLOC}},
                                  {MPI_MINLOC, {ReduceOperation::minloc, OMPI_OP_BASE_FORTRAN_MINLOC}}}};
  const auto* const found = std::ranges::find(rows, op, &Row::handle);
  if (found == rows.end()) return std::nullopt;
  return found->operation;
}

std::optional<simd::Element> element_of(std::size_t type) noexcept { return element_in(type); }

}  // namespace plait::shim::openmpi
