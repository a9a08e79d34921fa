#include "plait/mpi/handles.hpp"

namespace plait::mpi {

#if defined(MPICH_VERSION)

namespace {

int free_with_self(MPI_Comm /*comm*/, int /*key*/, void* asking, void* /*extra*/) {
  return MPI_Comm_free(static_cast<MPI_Comm*>(asking));
}

// Of the group of MPI_COMM_SELF, since no call of another thread can be taken for a part of this one then. It goes when
// MPI_Finalize deletes the attributes of MPI_COMM_SELF.
MPI_Comm& asking_communicator() noexcept {
  static MPI_Comm asking = [] {
    MPI_Comm made = MPI_COMM_NULL;
    MPI_Group group = MPI_GROUP_NULL;
    MPI_Comm_group(MPI_COMM_SELF, &group);
    if (MPI_Comm_create_group(MPI_COMM_SELF, group, 0, &made) == MPI_SUCCESS) {
      int key = MPI_KEYVAL_INVALID;
      MPI_Comm_set_errhandler(made, MPI_ERRORS_RETURN);
      MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, free_with_self, &key, nullptr);
      MPI_Comm_set_attr(MPI_COMM_SELF, key, static_cast<void*>(&asking));
      MPI_Comm_free_keyval(&key);
    }
    MPI_Group_free(&group);
    return made;
  }();
  return asking;
}

// As the highest bits of a handle tell.
bool looks_like_communicator(MPI_Comm comm) noexcept {
  constexpr unsigned bits_of_place = 30;
  constexpr unsigned bits_of_kind = 0xFU << 26U;
  const auto bits = static_cast<unsigned>(comm);
  const bool is_nowhere = bits >> bits_of_place == 0;
  return !is_nowhere && ((bits ^ static_cast<unsigned>(MPI_COMM_SELF)) & bits_of_kind) == 0;
}

}  // namespace

// Of what is wrong with the second communicator that it compares, MPICH complains to the handler of the first one.
bool is_communicator(MPI_Comm comm) noexcept {
  if (comm == MPI_COMM_NULL || !looks_like_communicator(comm)) return false;
  MPI_Comm const asking = asking_communicator();
  if (asking == MPI_COMM_NULL) return true;
  int relation = 0;
  return comm != asking && MPI_Comm_compare(asking, comm, &relation) == MPI_SUCCESS;
}

#elif defined(OPEN_MPI)

// Open MPI gives no number to what is no communicator, without a complaint, and a number to null.
bool is_communicator(MPI_Comm comm) noexcept {
  return comm != nullptr && comm != MPI_COMM_NULL && MPI_Comm_f2c(MPI_Comm_c2f(comm)) == comm;
}

#else

bool is_communicator(MPI_Comm comm) noexcept { return comm != MPI_COMM_NULL; }

#endif

}  // namespace plait::mpi
