// io_copy LIST: reads every matrix that LIST names and writes it again, as .npy or HDF5; a line of LIST is INPUT,
// blank, OUTPUT.
#include <mpi.h>

#include <cstdio>
#include <exception>
#include <fstream>
#include <string>

#include "plait/io/file_kind.hpp"
#include "plait/io/matrix_output.hpp"
#include "plait/mpi/context.hpp"

namespace {

void copy_all(plait::mpi::Context& context, const char* list) {
  std::ifstream lines(list);
  for (std::string from, to; lines >> from >> to;) {
    const auto file = plait::io::describe_matrix_file(context, from);
    plait::io::with_dtype(file.dtype, [&]<class T>() {
      plait::io::write_matrix_file(context, to, plait::io::read_matrix_file<T>(context, from, file));
    });
  }
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int status = 0;
  try {
    plait::mpi::Context context(MPI_COMM_WORLD);
    copy_all(context, argc > 1 ? argv[1] : "");
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    status = 1;
  }
  MPI_Finalize();
  return status;
}
