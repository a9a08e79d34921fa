#pragma once

#include <mpi.h>

#include <memory>

#include "plait/mpi/error.hpp"

namespace plait::mpi {

/// Objects that are kept with communicators, one with each, and destroyed when that is freed: MPI's attributes. A
/// duplicate has none. Local; different threads may ask for different communicators' at once.
template <class T>
class Attribute {
 public:
  /// What is kept with `comm`, or null.
  /// \throws MpiError
  [[nodiscard]] static T* of(MPI_Comm comm) {
    void* kept = nullptr;
    int found = 0;
    check(MPI_Comm_get_attr(comm, key(), static_cast<void*>(&kept), &found), "MPI_Comm_get_attr");
    return found != 0 ? static_cast<T*>(kept) : nullptr;
  }
  /// \throws MpiError
  static T& keep(MPI_Comm comm, std::unique_ptr<T> object) {
    check(MPI_Comm_set_attr(comm, key(), object.get()), "MPI_Comm_set_attr");
    return *object.release();  // the communicator's now
  }
  static void drop(MPI_Comm comm) {
    if (of(comm) != nullptr) MPI_Comm_delete_attr(comm, key());
  }

 private:
  static int destroy(MPI_Comm /*comm*/, int /*key*/, void* object, void* /*extra*/) {
    const std::unique_ptr<T> owned(static_cast<T*>(object));
    return MPI_SUCCESS;
  }
  static int key() {
    static const int key = [] {
      int created = MPI_KEYVAL_INVALID;
      check(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, destroy, &created, nullptr), "MPI_Comm_create_keyval");
      return created;
    }();
    return key;
  }
};

}  // namespace plait::mpi
