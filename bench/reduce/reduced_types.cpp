#include "bench/reduce/reduced_types.hpp"

#include <algorithm>

#include "plait/base/contract.hpp"

namespace plait::bench {

using simd::Element;
using simd::ReduceOperation;

std::vector<ReducedType> reduced_types() {
#if defined(MPICH_VERSION)
  constexpr bool has_logical_integers = true;
#else
  constexpr bool has_logical_integers = false;
#endif
  constexpr Element long_integer = sizeof(long) == 8 ? Element::int64 : Element::int32;
  std::vector<ReducedType> types{
      {"MPI_INT8_T", MPI_INT8_T, Element::int8},
      {"MPI_INT16_T", MPI_INT16_T, Element::int16},
      {"MPI_INT32_T", MPI_INT32_T, Element::int32},
      {"MPI_INT64_T", MPI_INT64_T, Element::int64},
      {"MPI_UINT8_T", MPI_UINT8_T, Element::uint8},
      {"MPI_UINT16_T", MPI_UINT16_T, Element::uint16},
      {"MPI_UINT32_T", MPI_UINT32_T, Element::uint32},
      {"MPI_UINT64_T", MPI_UINT64_T, Element::uint64},
      {"MPI_LONG", MPI_LONG, long_integer},
      {"MPI_FLOAT", MPI_FLOAT, Element::float32},
      {"MPI_DOUBLE", MPI_DOUBLE, Element::float64},
      {"MPI_LONG_DOUBLE", MPI_LONG_DOUBLE, Element::long_double},
      {"MPI_C_BOOL", MPI_C_BOOL, Element::boolean},
      {"MPI_C_FLOAT_COMPLEX", MPI_C_FLOAT_COMPLEX, Element::complex64},
      {"MPI_C_DOUBLE_COMPLEX", MPI_C_DOUBLE_COMPLEX, Element::complex128},
      {"MPI_INTEGER", MPI_INTEGER, Element::int32, has_logical_integers},
      {"MPI_REAL", MPI_REAL, Element::float32},
      {"MPI_DOUBLE_PRECISION", MPI_DOUBLE_PRECISION, Element::float64},
      {"MPI_COMPLEX", MPI_COMPLEX, Element::complex64},
      {"MPI_DOUBLE_COMPLEX", MPI_DOUBLE_COMPLEX, Element::complex128},
      {"MPI_LOGICAL", MPI_LOGICAL, Element::logical},
      {"MPI_FLOAT_INT", MPI_FLOAT_INT, Element::float_int},
      {"MPI_DOUBLE_INT", MPI_DOUBLE_INT, Element::double_int},
      {"MPI_LONG_INT", MPI_LONG_INT, Element::long_int},
      {"MPI_SHORT_INT", MPI_SHORT_INT, Element::short_int},
      {"MPI_2INT", MPI_2INT, Element::int_int},
      {"MPI_LONG_DOUBLE_INT", MPI_LONG_DOUBLE_INT, Element::long_double_int},
      {"MPI_2REAL", MPI_2REAL, Element::float_float},
      {"MPI_2DOUBLE_PRECISION", MPI_2DOUBLE_PRECISION, Element::double_double},
  };
  std::erase_if(types, [](const ReducedType& type) { return type.type == MPI_DATATYPE_NULL; });
  return types;
}

bool ReducedType::allows(ReduceOperation operation) const {
  if (simd::reduce_kernel(operation, element) == nullptr) return false;
  const bool logical =
      operation == ReduceOperation::land || operation == ReduceOperation::lor || operation == ReduceOperation::lxor;
  return logical_operations || !logical;
}

MPI_Op mpi_operation(ReduceOperation operation) {
  switch (operation) {
    case ReduceOperation::max: return MPI_MAX;
    case ReduceOperation::min: return MPI_MIN;
    case ReduceOperation::sum: return MPI_SUM;
    case ReduceOperation::prod: return MPI_PROD;
    case ReduceOperation::band: return MPI_BAND;
    case ReduceOperation::bor: return MPI_BOR;
    case ReduceOperation::bxor: return MPI_BXOR;
    case ReduceOperation::land: return MPI_LAND;
    case ReduceOperation::lor: return MPI_LOR;
    case ReduceOperation::lxor: return MPI_LXOR;
    case ReduceOperation::maxloc: return MPI_MAXLOC;
    case ReduceOperation::minloc: return MPI_MINLOC;
    case ReduceOperation::replace: return MPI_REPLACE;
    case ReduceOperation::no_op: return MPI_NO_OP;
  }
  PLAIT_ASSERT(false, "all operations are MPI's");
}

}  // namespace plait::bench
