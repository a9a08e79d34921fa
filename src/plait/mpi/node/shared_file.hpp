#pragma once

#include <sys/types.h>

#include <array>

#include "plait/base/index.hpp"

namespace plait::mpi {

/// Free space of the file system in which a node's shared memory is made, in bytes; negative if there is none.
[[nodiscard]] Index free_for_shared_files();

/// A file in the memory of a node, for as long as several processes are to map it: closed, and without a name, when
/// this is destroyed, which keeps the mappings.
///
/// A file that never has a name can't be left behind, however its process ends. Others find it through the process that
/// has it open, which takes /proc, process ids that mean the same to both, and that they may look at each other; where
/// they may not, a name does, which a process that is killed before it has taken the name away leaves behind.
class SharedFile {
 public:
  /// How others find it: bytes to be sent to them as they are.
  struct Address {
    pid_t process = -1;
    int descriptor = -1;
    // What is there: to others the process may be another one.
    dev_t device = 0;
    ino_t inode = 0;
    std::array<char, 48> name{};
  };

  SharedFile() noexcept = default;
  SharedFile(SharedFile&& other) noexcept;
  SharedFile& operator=(SharedFile&& other) noexcept;
  ~SharedFile();

  // Each is a file that is not open where it can't be had; errno tells why.
  [[nodiscard]] static SharedFile without_name();
  [[nodiscard]] static SharedFile with_name();
  /// Not in /dev/shm, which may be small: of as much memory as the node has.
  [[nodiscard]] static SharedFile of_memory();
  [[nodiscard]] static SharedFile of_other(const Address& address);

  [[nodiscard]] bool is_open() const noexcept { return address_.descriptor >= 0; }
  [[nodiscard]] const Address& address() const noexcept { return address_; }
  [[nodiscard]] int descriptor() const noexcept { return address_.descriptor; }

  /// Takes memory for these bytes of it now, which it becomes long enough for.
  /// \return  0, or an error as in errno
  [[nodiscard]] int take_memory(Index first, Index bytes) const;

 private:
  [[nodiscard]] static SharedFile opened(int descriptor);

  Address address_;
  bool owns_name_ = false;
};

}  // namespace plait::mpi
