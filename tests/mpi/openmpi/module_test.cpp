// What the component hands to Open MPI, called as Open MPI does. Functions of three buffers can't be tested by
// programs: Open MPI 4.1 has them for components of others.
#include "shim/openmpi/module.hpp"

#include <cstddef>
#include <memory>
#include <vector>

#include <gtest/gtest.h>

namespace plait::shim::openmpi {
namespace {

const std::vector<MPI_Op> operations{MPI_MAX, MPI_MIN, MPI_SUM,  MPI_PROD, MPI_LAND,   MPI_BAND,
                                     MPI_LOR, MPI_BOR, MPI_LXOR, MPI_BXOR, MPI_MAXLOC, MPI_MINLOC};

// Looked at only where functions are called for types of several kinds.
MPI_Datatype of_no_type = MPI_DATATYPE_NULL;  // NOLINT(cppcoreguidelines-avoid-non-const-global-variables)

std::unique_ptr<Module> module_of(MPI_Op op, bool counted = false) {
  auto module = std::make_unique<Module>();
  make_module(*module, operation_of(op).value(), simd::best_isa(), counted);
  return module;
}

// Small numbers as integers, and numbers as floating-point ones.
std::vector<std::byte> elements(std::size_t bytes, unsigned seed) {
  std::vector<std::byte> data(bytes);
  for (std::size_t i = 0; i < bytes; ++i) data[i] = static_cast<std::byte>((i * 37 + seed * 101) % 61);
  return data;
}

TEST(OpenMpiModule, has_a_function_where_open_mpi_and_plait_have_one_and_nowhere_else) {
  for (const MPI_Op op : operations) {
    const Operation operation = operation_of(op).value();
    const auto module = module_of(op);
    for (std::size_t type = 0; type < type_count; ++type) {
      const auto element = element_of(type);
      const bool known = element && simd::reduce_kernel(operation.operation, *element) != nullptr;
      const bool reduces = ompi_op_base_functions[operation.row][type] != nullptr;
      const bool combines = ompi_op_base_3buff_functions[operation.row][type] != nullptr;
      EXPECT_EQ(module->base.opm_fns[type] != nullptr, known && reduces) << type;
      EXPECT_EQ(module->base.opm_3buff_fns[type] != nullptr, known && reduces && combines && !is_padded(*element))
          << type;
    }
  }
}

TEST(OpenMpiModule, three_buffers_give_what_two_give) {
  constexpr int n = 67;
  constexpr std::byte sentinel{0xA5};
  for (const MPI_Op op : operations) {
    const auto module = module_of(op);
    for (std::size_t type = 0; type < type_count; ++type) {
      if (module->base.opm_fns[type] == nullptr || module->base.opm_3buff_fns[type] == nullptr) continue;
      const simd::Element element = element_of(type).value();
      const auto size = static_cast<std::size_t>(size_in_bytes(element));
      const auto a = elements(size * n, 1);
      const auto b = elements(size * n, 2);
      for (int count : {n, 1, 0}) {
        auto two = b;
        two.insert(two.end(), 64, sentinel);
        auto three = two;
        module->base.opm_fns[type](a.data(), two.data(), &count, &of_no_type, &module->base);
        module->base.opm_3buff_fns[type](a.data(), b.data(), three.data(), &count, &of_no_type, &module->base);
        EXPECT_EQ(two, three) << name(element) << " for " << count;
        for (std::size_t i = size * static_cast<std::size_t>(count); i < two.size(); ++i) {
          ASSERT_EQ(two[i], i < b.size() ? b[i] : sentinel) << name(element) << ", byte " << i;
        }
      }
    }
  }
}

struct Padding {
  int type;
  std::size_t size, begin, end;  // of an element, and of what belongs to nothing in it
};

TEST(OpenMpiModule, padding_stays_as_it_is_and_that_of_the_last_element_is_not_there) {
  constexpr int n = 67;
  constexpr std::byte sentinel{0xA5};
  for (const auto& [type, size, begin, end] :
       {Padding{OMPI_OP_BASE_TYPE_DOUBLE_INT, 16, 12, 16}, Padding{OMPI_OP_BASE_TYPE_LONG_INT, 16, 12, 16},
        Padding{OMPI_OP_BASE_TYPE_SHORT_INT, 8, 2, 4}, Padding{OMPI_OP_BASE_TYPE_LONG_DOUBLE_INT, 32, 20, 32}}) {
    for (const MPI_Op op : {MPI_MAXLOC, MPI_MINLOC}) {
      const auto module = module_of(op);
      for (int count : {n, 1, 0}) {
        const std::size_t used = size * static_cast<std::size_t>(n) - (end == size ? end - begin : 0);
        const auto in = elements(used, 1);
        auto inout = elements(used, 2);
        inout.insert(inout.end(), 64, sentinel);
        const auto before = inout;
        module->base.opm_fns[type](in.data(), inout.data(), &count, &of_no_type, &module->base);
        for (std::size_t i = 0; i < inout.size(); ++i) {
          const bool is_in_field = i < size * static_cast<std::size_t>(count) && (i % size < begin || i % size >= end);
          ASSERT_TRUE(is_in_field || inout[i] == before[i]) << "type " << type << ", byte " << i << " for " << count;
        }
        // Bytes make no numbers of the processor's long double.
        ASSERT_TRUE(count < n || inout != before || type == OMPI_OP_BASE_TYPE_LONG_DOUBLE_INT) << "type " << type;
      }
    }
  }
}

TEST(OpenMpiModule, offsets_have_a_sign_though_open_mpi_takes_them_for_unsigned_integers) {
  const auto module = module_of(MPI_MIN, true);
  const auto type = std::size_t{OMPI_OP_BASE_TYPE_UINT64_T};
  const MPI_Offset in = -1;
  for (const bool is_offset : {true, false}) {
    MPI_Datatype datatype = is_offset ? MPI_OFFSET : MPI_UINT64_T;
    MPI_Offset two = 1;
    MPI_Offset three = 0;
    int n = 1;
    module->base.opm_3buff_fns[type](&in, &two, &three, &n, &datatype, &module->base);
    module->base.opm_fns[type](&in, &two, &n, &datatype, &module->base);
    EXPECT_EQ(two, is_offset ? -1 : 1);
    EXPECT_EQ(three, two);
  }
  EXPECT_EQ(module->counts[OMPI_OP_BASE_TYPE_INT64_T].calls, 2);
  EXPECT_EQ(module->counts[type].calls, 2);
}

TEST(OpenMpiModule, counts_calls_and_elements_if_asked_to) {
  const auto module = module_of(MPI_SUM, true);
  std::vector<double> in(10, 1);
  std::vector<double> inout(10, 2);
  int n = 10;
  for (int call = 0; call < 3; ++call) {
    module->base.opm_fns[OMPI_OP_BASE_TYPE_DOUBLE](in.data(), inout.data(), &n, &of_no_type, &module->base);
  }
  EXPECT_EQ(inout, std::vector<double>(10, 5));
  EXPECT_EQ(module->counts[OMPI_OP_BASE_TYPE_DOUBLE].calls, 3);
  EXPECT_EQ(module->counts[OMPI_OP_BASE_TYPE_DOUBLE].elements, 30);
}

TEST(OpenMpiModule, knows_no_operation_but_those_with_functions) {
  for (const MPI_Op op : {MPI_OP_NULL, MPI_REPLACE, MPI_NO_OP}) EXPECT_FALSE(operation_of(op));
}

}  // namespace
}  // namespace plait::shim::openmpi
