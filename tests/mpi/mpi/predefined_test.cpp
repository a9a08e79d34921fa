#include "plait/mpi/predefined.hpp"

#include <mpi.h>

#include <array>
#include <optional>

#include <gtest/gtest.h>

#include "plait/simd/reduce/element.hpp"

namespace {

using plait::mpi::predefined_reduction;
using plait::mpi::PredefinedReduction;
using plait::simd::Element;
using plait::simd::ReduceOperation;

const std::array predefined_operations{MPI_MAX, MPI_MIN, MPI_SUM,  MPI_PROD, MPI_LAND,   MPI_BAND,
                                       MPI_LOR, MPI_BOR, MPI_LXOR, MPI_BXOR, MPI_MAXLOC, MPI_MINLOC};

TEST(PredefinedReductions, know_elements_that_are_as_long_as_mpi_s) {
  for (MPI_Datatype type : {MPI_SIGNED_CHAR,
                            MPI_SHORT,
                            MPI_INT,
                            MPI_LONG,
                            MPI_LONG_LONG,
                            MPI_UNSIGNED,
                            MPI_UNSIGNED_LONG,
                            MPI_UINT16_T,
                            MPI_AINT,
                            MPI_OFFSET,
                            MPI_COUNT,
                            MPI_BYTE,
                            MPI_FLOAT,
                            MPI_DOUBLE,
                            MPI_LONG_DOUBLE,
                            MPI_C_BOOL,
                            MPI_CXX_BOOL,
                            MPI_C_FLOAT_COMPLEX,
                            MPI_C_DOUBLE_COMPLEX,
                            MPI_CXX_FLOAT_COMPLEX,
                            MPI_CXX_DOUBLE_COMPLEX,
                            MPI_INTEGER,
                            MPI_INTEGER1,
                            MPI_INTEGER2,
                            MPI_INTEGER4,
                            MPI_INTEGER8,
                            MPI_REAL,
                            MPI_REAL4,
                            MPI_REAL8,
                            MPI_DOUBLE_PRECISION,
                            MPI_COMPLEX,
                            MPI_DOUBLE_COMPLEX,
                            MPI_COMPLEX8,
                            MPI_COMPLEX16,
                            MPI_LOGICAL,
                            MPI_FLOAT_INT,
                            MPI_DOUBLE_INT,
                            MPI_LONG_INT,
                            MPI_SHORT_INT,
                            MPI_2INT,
                            MPI_LONG_DOUBLE_INT,
                            MPI_2INTEGER,
                            MPI_2REAL,
                            MPI_2DOUBLE_PRECISION}) {
    MPI_Aint lower_bound = 0;
    MPI_Aint extent = 0;
    MPI_Type_get_extent(type, &lower_bound, &extent);
    int known = 0;
    for (MPI_Op const operation : predefined_operations) {
      const auto reduction = predefined_reduction(operation, type);
      if (!reduction) continue;
      ++known;
      EXPECT_EQ(plait::simd::size_in_bytes(reduction->element), plait::Index{extent});
      EXPECT_NE(plait::simd::reduce_kernel(reduction->operation, reduction->element), nullptr);
    }
    EXPECT_GE(known, 2);
  }
}

TEST(PredefinedReductions, are_those_that_mpi_defines) {
  EXPECT_EQ(predefined_reduction(MPI_SUM, MPI_REAL), (PredefinedReduction{ReduceOperation::sum, Element::float32}));
  EXPECT_EQ(predefined_reduction(MPI_LAND, MPI_LOGICAL),
            (PredefinedReduction{ReduceOperation::land, Element::logical}));
  EXPECT_EQ(predefined_reduction(MPI_BOR, MPI_BYTE), (PredefinedReduction{ReduceOperation::bor, Element::uint8}));
  EXPECT_EQ(predefined_reduction(MPI_SUM, MPI_BYTE), std::nullopt);
  EXPECT_EQ(predefined_reduction(MPI_LAND, MPI_DOUBLE), std::nullopt);
  EXPECT_EQ(predefined_reduction(MPI_MAX, MPI_C_DOUBLE_COMPLEX), std::nullopt);
  EXPECT_EQ(predefined_reduction(MPI_SUM, MPI_CHAR), std::nullopt);
  EXPECT_EQ(predefined_reduction(MPI_REPLACE, MPI_INT), std::nullopt);
  EXPECT_EQ(predefined_reduction(MPI_OP_NULL, MPI_INT), std::nullopt);
  EXPECT_EQ(predefined_reduction(MPI_SUM, MPI_DATATYPE_NULL), std::nullopt);
}

TEST(PredefinedReductions, are_logical_on_all_integers_where_mpich_has_them_so) {
#if defined(MPICH_VERSION)
  EXPECT_EQ(predefined_reduction(MPI_LOR, MPI_INTEGER8), (PredefinedReduction{ReduceOperation::lor, Element::int64}));
  EXPECT_EQ(predefined_reduction(MPI_LXOR, MPI_COUNT), (PredefinedReduction{ReduceOperation::lxor, Element::int64}));
#else
  EXPECT_EQ(predefined_reduction(MPI_LOR, MPI_INTEGER8), std::nullopt);
  EXPECT_EQ(predefined_reduction(MPI_LXOR, MPI_COUNT), std::nullopt);
#endif
}

TEST(PredefinedReductions, are_not_what_a_program_makes) {
  MPI_Datatype copy = MPI_DATATYPE_NULL;
  MPI_Type_dup(MPI_DOUBLE, &copy);
  EXPECT_EQ(predefined_reduction(MPI_SUM, copy), std::nullopt);
  MPI_Type_free(&copy);
  MPI_Op first = MPI_OP_NULL;
  MPI_Op_create([](void*, void*, int*, MPI_Datatype*) {}, 1, &first);
  EXPECT_EQ(predefined_reduction(first, MPI_DOUBLE), std::nullopt);
  MPI_Op_free(&first);
}

}  // namespace
