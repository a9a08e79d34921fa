// The classes of the errors that calls with wrong arguments return, and how often the program's error handler hears of
// them, which has to be as MPI does it.
#include <mpi.h>

#include <cstdio>

#include "mpi/reduce/cases.hpp"
#include "mpi/reduce/program.hpp"

namespace {

constexpr int elements = 64;
alignas(64) std::byte in[elements * 32];
alignas(64) std::byte out[elements * 32];

int handled = 0;
void count_error(MPI_Comm* /*comm*/, int* /*code*/, ...) { ++handled; }

void print(const std::string& what, int code) {
  int error_class = 0;
  int rank = 0;
  MPI_Error_class(code, &error_class);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0 && std::printf("%s: %d, %d times\n", what.c_str(), error_class, handled) < 0) complain("stdout");
  handled = 0;
  std::fflush(stdout);  // what follows may end the program
}

// MPICH 4.0.2 lets logical operations on floating-point numbers pass, and fails an assertion then.
bool ends_the_program(MPI_Op op, Group group) {
  return group == Group::floating_point && (op == MPI_LAND || op == MPI_LOR || op == MPI_LXOR);
}

// Every rank makes the same mistake, and MPI finds it before anything is sent.
void print_undefined_operations() {
  for_all_types([](const char* name, MPI_Datatype type, Group group, auto) {
    for (const NamedOperation& operation : all_operations()) {
      if (ends_the_program(operation.operation, group)) continue;
      const std::string what = std::string(operation.name) + " of " + name;
      print(what, MPI_Reduce_local(in, out, 1, type, operation.operation));
      print(what + " on all", MPI_Allreduce(in, out, 1, type, operation.operation, MPI_COMM_WORLD));
    }
  });
  for (const MPI_Datatype type : {MPI_CHAR, MPI_WCHAR, MPI_PACKED}) {
    for (const NamedOperation& operation : all_operations()) {
      print(std::string(operation.name) + " of something else",
            MPI_Reduce_local(in, out, 1, type, operation.operation));
    }
  }
}

void print_wrong_arguments() {
  const MPI_Datatype type = MPI_DOUBLE;
  const MPI_Comm comm = MPI_COMM_WORLD;
  int ranks = 0;
  MPI_Comm_size(comm, &ranks);
  print("no operation", MPI_Allreduce(in, out, 8, type, MPI_OP_NULL, comm));
  print("no operation here", MPI_Reduce_local(in, out, 8, type, MPI_OP_NULL));
  print("no type", MPI_Allreduce(in, out, 8, MPI_DATATYPE_NULL, MPI_SUM, comm));
  print("no type here", MPI_Reduce_local(in, out, 8, MPI_DATATYPE_NULL, MPI_SUM));
  print("no communicator", MPI_Allreduce(in, out, 8, type, MPI_SUM, MPI_COMM_NULL));
  MPI_Comm none{};
  print("no communicator's handle", MPI_Allreduce(in, out, 8, type, MPI_SUM, none));
#if defined(MPICH_VERSION)
  // Nothing at all, no communicator's kind, and communicators that never were.
  for (const unsigned handle : {1U, 0x4c00030aU, 0x44000002U, 0x84000100U}) {
    print("a number", MPI_Allreduce(in, out, 8, type, MPI_SUM, static_cast<MPI_Comm>(handle)));
  }
  MPI_Comm_dup(comm, &none);
  MPI_Comm gone = none;
  MPI_Comm_free(&none);
  print("a communicator that is no more", MPI_Allreduce(in, out, 8, type, MPI_SUM, gone));
#endif
  print("no root", MPI_Reduce(in, out, 8, type, MPI_SUM, ranks, comm));
  print("root of -7", MPI_Reduce(in, out, 8, type, MPI_SUM, -7, comm));
  print("result in place", MPI_Allreduce(in, MPI_IN_PLACE, 8, type, MPI_SUM, comm));
  print("same buffers", MPI_Allreduce(out, out, 8, type, MPI_SUM, comm));
  print("same buffers alone", MPI_Allreduce(out, out, 8, type, MPI_SUM, MPI_COMM_SELF));
  print("same buffers of the root", MPI_Reduce(out, out, 8, type, MPI_SUM, 0, MPI_COMM_SELF));
#if defined(MPICH_VERSION)  // what the one looks for, the other does not
  print("operands in place here", MPI_Reduce_local(MPI_IN_PLACE, out, 8, type, MPI_SUM));
  print("result in place here", MPI_Reduce_local(in, MPI_IN_PLACE, 8, type, MPI_SUM));
  print("same buffers here", MPI_Reduce_local(out, out, 8, type, MPI_SUM));
  print("no operands", MPI_Allreduce(nullptr, out, 8, type, MPI_SUM, comm));
  print("no result", MPI_Allreduce(in, nullptr, 8, type, MPI_SUM, comm));
#else
  const std::vector<int> negative(static_cast<std::size_t>(ranks), -1);
  print("count of -1", MPI_Allreduce(in, out, -1, type, MPI_SUM, comm));
  print("count of -1 here", MPI_Reduce_local(in, out, -1, type, MPI_SUM));
  print("counts of -1", MPI_Reduce_scatter(in, out, negative.data(), type, MPI_SUM, comm));
  print("block of -1", MPI_Reduce_scatter_block(in, out, -1, type, MPI_SUM, comm));
#endif
}

}  // namespace

void print_errors() {
  MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
  MPI_Comm_create_errhandler(count_error, &handler);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, handler);
  print_undefined_operations();
  print_wrong_arguments();
  // The same when the library has begun to serve the communicator.
  std::vector<double> large(1000000, 1.0);
  std::vector<double> sums(1000000);
  for (int i = 0; i < 3; ++i) MPI_Allreduce(large.data(), sums.data(), 1000000, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  print_wrong_arguments();
}
