#pragma once

#include <functional>
#include <string>
#include <vector>

#include "plait/io/aside_file.hpp"
#include "plait/io/file_kind.hpp"

namespace plait::cli {

/// A file that a job reads a matrix or an array from, and what its header says once it is described.
struct InputFile : io::MatrixFile {
  std::string path = {};  // empty: none is given

  [[nodiscard]] explicit operator bool() const noexcept { return !path.empty(); }
  /// Reads the header, if a file is given. Collective over `context`.
  /// \throws Error  see io::describe_file
  void describe(mpi::Context& context, io::Dimensions wanted = io::matrices);
  /// Takes what another reading of the same header says.
  InputFile& operator=(io::MatrixFile header) {
    io::MatrixFile::operator=(std::move(header));
    return *this;
  }
};

/// A file and what it is to the job: "IN", "the file of --into".
struct NamedFile {
  std::string path;
  std::string role;
};

/// The files of a job, by the variables in which parsing leaves their names; a name may be empty.
struct JobFiles {
  struct Declared {
    std::string option;  // "IN", "--into", and of "-o,--output" the first: "-o"
    const std::string* path = nullptr;
    bool is_matrix = false;                     // written by `io::write_matrix_file`
    std::vector<std::string> may_replace = {};  // options whose files it may be
    std::string ending = {};                    // of all names that it may have; empty where there are several or any
  };
  std::vector<Declared> reads;
  std::vector<std::pair<InputFile*, io::Dimensions>> inputs;  // those of `reads` whose headers the host reads
  std::vector<Declared> writes;
  std::vector<NamedFile> also_read;  // what no option names alone
  std::vector<NamedFile> also_written;

  /// All that is read, but for the files of some options.
  [[nodiscard]] std::vector<NamedFile> read(const std::vector<std::string>& but = {}) const;
  /// A file that is read, told by its option or its path, as errors call it: "old.npy" where it is an argument, "--from
  /// old.npy" where an option has it. Other options stay as they are.
  [[nodiscard]] std::string called(const std::string& name) const;
  /// What is written must replace neither what is read nor what else is written.
  /// \throws UsageError
  void expect_different() const;
};

/// What a matrix can be read from, for the help.
inline constexpr const char* matrix_file = "a NumPy .npy, Matrix Market, HDF5, .csv or .svm (LIBSVM) file";

/// The file that describes the machine, if any, on the rank that calls: that of --machine, or where `path` is empty the
/// one that PLAIT_MACHINE names.
[[nodiscard]] std::vector<NamedFile> machine_file(const std::string& path);

/// Writes a small text beside the place where it is to be, complete and on the disk: `publish` gives it its name.
///
/// \throws FileError  the file can't be written
[[nodiscard]] io::AsideFile text_aside(const std::string& path, const std::string& text);

/// Writes a text that comes with a result, such as its page or its trace: where that fails, a warning says so, and the
/// result is not lost. Returns whether it was written. Local.
bool write_beside_result(const std::string& path, const std::function<std::string()>& text);

}  // namespace plait::cli
