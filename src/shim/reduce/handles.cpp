#include "shim/reduce/handles.hpp"

namespace plait::shim::reduce {

#if defined(MPICH_VERSION)

namespace {

// Of what is wrong with the second communicator that it compares, MPICH complains to the handler of the first one.
// NOLINTNEXTLINE(cppcoreguidelines-avoid-non-const-global-variables): of a process, as MPI is
MPI_Comm own = MPI_COMM_NULL;

// Only if the handle looks like one of a communicator, as its highest bits tell.
constexpr unsigned bits_of_place = 30;
constexpr unsigned bits_of_kind = 0xFU << 26U;

bool looks_like_communicator(MPI_Comm comm) noexcept {
  const auto bits = static_cast<unsigned>(comm);
  const bool is_nowhere = bits >> bits_of_place == 0;
  return !is_nowhere && ((bits ^ static_cast<unsigned>(MPI_COMM_WORLD)) & bits_of_kind) == 0;
}

}  // namespace

// Of the group of MPI_COMM_SELF, since no other thread's call can be taken for a part of this one then.
void begin_asking() noexcept {
  MPI_Group group = MPI_GROUP_NULL;
  MPI_Comm_group(MPI_COMM_SELF, &group);
  if (MPI_Comm_create_group(MPI_COMM_SELF, group, 0, &own) == MPI_SUCCESS) {
    MPI_Comm_set_errhandler(own, MPI_ERRORS_RETURN);
  } else {
    own = MPI_COMM_NULL;
  }
  MPI_Group_free(&group);
}

void end_asking() noexcept {
  if (own != MPI_COMM_NULL) MPI_Comm_free(&own);
}

bool is_communicator(MPI_Comm comm) noexcept {
  int relation = 0;
  if (!looks_like_communicator(comm)) return false;
  return own == MPI_COMM_NULL || MPI_Comm_compare(own, comm, &relation) == MPI_SUCCESS;
}

#else

void begin_asking() noexcept {}

void end_asking() noexcept {}

// Open MPI gives no number to what is no communicator, without a complaint, and a number to null.
bool is_communicator(MPI_Comm comm) noexcept {
  return comm != nullptr && comm != MPI_COMM_NULL && MPI_Comm_f2c(MPI_Comm_c2f(comm)) == comm;
}

#endif

}  // namespace plait::shim::reduce
