#pragma once

#include <new>

#include "plait/io/matrix_output.hpp"
#include "plait/io/slab.hpp"
#include "plait/layout/distributed_matrix.hpp"
#include "plait/mpi/agreed.hpp"
#include "plait/redistribute/redistribution.hpp"
#include "plait/report/trace.hpp"

#include "cli/host/checkpoint.hpp"
#include "cli/host/guard.hpp"
#include "cli/host/meter.hpp"
#include "cli/host/options.hpp"
#include "cli/host/report.hpp"
#include "cli/host/text.hpp"

/// What a subcommand is, and what the host does for it. docs/add-a-job.md shows how one is added.
namespace plait::cli {

/// \throws ArgumentError  the elements are complex
void expect_real(const InputFile& file);

/// What errors of the library are about, and how the command line has it.
struct ErrorWord {
  std::string_view about;  // an argument, "memory_limit", or words with a space in them: "the entry in "
  std::string name;        // an option or a file; may be empty, where it was not given
};

/// What a job works with, on every rank. All its functions are collective over the context.
class Work {
 public:
  Work(mpi::Context& context, const Settings& settings, const JobFiles& files);

  mpi::Context& context;
  const Settings& settings;
  const JobFiles& files;
  Meter meter;
  Moved read{};                                        // of all matrices that were read
  std::vector<std::pair<std::string, Moved>> written;  // each of them, and its file
  MemoryEstimate memory{};                             // known once the job is prepared
  double seconds = 0;                                  // of all of `run`, known when it has ended
  std::string trace_path;                              // of the trace, once it was written, on rank 0

  /// The matrix in a file, in the slabs of the file.
  template <io::FileElement T>
  [[nodiscard]] layout::DistributedMatrix<T> read_matrix(const InputFile& file);
  /// The same in any layout: `what` it is held for, in words.
  template <io::FileElement T>
  [[nodiscard]] layout::DistributedMatrix<T> read_matrix(const InputFile& file, const layout::Layout& layout,
                                                         const std::string& what);
  /// The same of elements that are converted to T; without a layout, in the slabs of the file.
  /// \throws ArgumentError  on every rank: they are complex, and T is not
  template <class T>
  [[nodiscard]] layout::DistributedMatrix<T> read_as(const InputFile& file,
                                                     const std::optional<layout::Layout>& layout = {});
  /// The same, in an even share of the rows on each rank.
  template <class T>
  [[nodiscard]] layout::DistributedMatrix<T> read_rows(const InputFile& file) {
    return read_as<T>(file, slabs(file.shape));
  }
  /// A copy in another layout, for `what`.
  template <class T>
  [[nodiscard]] layout::DistributedMatrix<T> moved(const layout::DistributedMatrix<T>& from, const layout::Layout& to,
                                                   const std::string& what);
  /// Even slabs of a matrix of this shape: whole rows or, in the other order, columns.
  [[nodiscard]] layout::Layout slabs(layout::Shape shape, StorageOrder order = StorageOrder::row_major) const {
    return mpi::agreed(context, [&] { return io::slab_layout(shape, order, context.size()); });
  }
  /// An uninitialised one.
  /// \throws OutOfMemory  on every rank, naming one and how much it holds
  template <class T>
  [[nodiscard]] layout::DistributedMatrix<T> allocated(const layout::Layout& layout, const std::string& what);
  /// Calls `write` with a progress, as the stage that writes a matrix of this layout to `path`.
  void write(const std::string& path, const layout::Layout& layout, Index element_bytes,
             const std::function<void(const io::Progress&)>& write);
  template <io::FileElement T>
  void write_matrix(const std::string& path, const layout::DistributedMatrix<T>& slab) {
    write_array(path, io::Extents::of(slab.layout().shape()), slab);
  }
  /// The same of a matrix in any layout, in this order where files of that name can have it.
  template <io::FileElement T>
  void write_matrix(const std::string& path, layout::DistributedMatrix<T> matrix, StorageOrder order);
  /// Writes an array that lies as the rows of this matrix do.
  template <io::FileElement T>
  void write_array(const std::string& path, const io::Extents& extents, const layout::DistributedMatrix<T>& slab) {
    write(path, slab.layout(), Index{sizeof(T)},
          [&](const io::Progress& progress) { io::write_matrix_file(context, path, extents, slab, progress); });
  }
  /// The same of T(i, j), which each rank is asked for its own rows or, in the other order, columns. Nothing without a
  /// name.
  template <io::FileElement T, class Element>
  void write_elements(const std::string& path, const io::Extents& extents, const Element& element,
                      StorageOrder order = StorageOrder::row_major) {
    if (path.empty()) return;
    auto slab = allocated<T>(slabs(extents.as_matrix(order), order), path);
    slab.for_each_element([&](Index i, Index j, T& each) { each = element(i, j); });
    write_array(path, extents, slab);
  }
  /// The same of this rank's rows, which lie one after the other.
  template <io::FileElement T>
  void write_own(const std::string& path, const io::Extents& extents, std::span<const T> own) {
    if (path.empty()) return;
    auto slab = allocated<T>(slabs(extents.as_matrix(StorageOrder::row_major)), path);
    std::ranges::copy(own, slab.tiles()[0].data());
    write_array(path, extents, slab);
  }

  /// Iterates to the end, from the checkpoint that --resume found, with progress, checkpoints, and signals heard.
  /// \param news      what to print of the last step
  /// \throws Stopped  a signal came; a checkpoint was written
  template <iterate::Solver S>
  Iterated iterate(S& solver, Checkpoints& checkpoints, const std::function<std::string()>& news);
  /// Refuses a job that no node has the memory for, and warns where it is short. For jobs that know only later than in
  /// `prepare` what all phases need.
  void expect_memory(const std::vector<Index>& phases);

  /// Ends recording and writes what was recorded, where --trace asks for it; the same trace, on rank 0, whenever it is
  /// called again. Empty where nothing was recorded, or, with a warning, where there was no room: a result is worth
  /// more than its trace.
  const report::Trace& trace();

  /// Facts of all jobs that read and write matrices, and the lines about them.
  /// \param what_was_read  "IN: ", may be empty
  void report_end(Report& report, const std::string& what_was_read) const;

  /// Does `f`. Errors of arguments, "memory_limit: ...", begin with the option or the file that they come from instead:
  /// "--memory: ...", "--from old.npy: ..."; and those with words, and no name of a file yet, with their file before
  /// them. Which rank says so stays before that.
  template <class F>
  decltype(auto) in_words(const std::vector<ErrorWord>& words, F&& f) const {
    try {
      return std::forward<F>(f)();
    } catch (const ArgumentError& error) {
      throw ArgumentError(in_words(std::string_view(error.what()), words));
    }
  }

  /// Does `f` and returns how many seconds all ranks took together.
  template <class F>
  double timed(F&& f) const {
    const JointStopwatch watch(context);
    std::forward<F>(f)();
    return watch.seconds();
  }
  /// The most on any rank.
  template <class T>
  [[nodiscard]] T highest(T value) const {
    return mpi::all_reduce(context.comm(), value, mpi::Operation::maximum());
  }

 private:
  friend class Job;

  [[nodiscard]] std::string in_words(std::string_view error, const std::vector<ErrorWord>& words) const;
  /// Records schedules for --trace, and for a page of --report, which has the timeline of a part of them; where neither
  /// is asked for, as much as fits into little memory, if the job reports how much overlapped.
  void record();

  std::optional<report::Tracing> tracing_;
  report::Trace trace_;
};

/// Lets the context decide by the machine of that file or, if there is no path, of the file that PLAIT_MACHINE names on
/// rank 0, if it does. Collective over `context`.
///
/// \throws FileError  on every rank: the file can't be read, or is no description of a machine
void use_machine(mpi::Context& context, const std::string& path);

/// A subcommand: where it runs is for its kind to say.
class Command {
 public:
  virtual ~Command() = default;
  /// Declares the options; parsing fills the job's members.
  virtual void options(Options& options) = 0;
  /// What CLI11 knows of the options, such as how often one was given, is gone when this has returned.
  /// \throws UsageError  options contradict each other
  virtual void check() {}
  /// Whether it ends as another program, whose words and signals are not for it to look at.
  [[nodiscard]] virtual bool becomes_program() const { return false; }
  /// The exit status.
  virtual int start(const Start& start) = 0;

  Settings settings;
  JobFiles files;
};

/// One that runs on all ranks, under MPI.
class Job : public Command {
 public:
  /// Checks that everything fits together, before an element is read; the headers of input files are. Returns the
  /// bytes that this rank needs at the same time, in each phase of the job. Collective.
  virtual std::vector<Index> prepare(Work& /*work*/) { return {}; }
  virtual void run(Work& work) = 0;
  /// What errors of the library are about, and how the command line has it: the host puts them so. Those that are told
  /// from others by more words come first.
  [[nodiscard]] virtual std::vector<ErrorWord> error_words() const { return {}; }
  /// States the facts. On rank 0.
  virtual void report(Report& report, Work& work) = 0;
  /// Draws what the page of --report has beside them. On rank 0.
  virtual void draw(Report& /*report*/, Work& /*work*/) {}

  int start(const Start& start) final;

 protected:
  /// All of the above in turn, with what the host does in between.
  virtual void perform(mpi::Context& context);
};

/// One that needs neither MPI nor other ranks: rank 0 runs it, where there are any.
class LoneJob : public Command {
 public:
  /// Does the work and states the facts; rank 0 prints them then.
  virtual void run(Report& report) = 0;
  int start(const Start& start) final;
};

/// Ends the file of a job: makes it known to its row in jobs.cpp.
#define PLAIT_JOB(name, Type)             \
  std::unique_ptr<Command> make_##name(); \
  std::unique_ptr<Command> make_##name() { return std::make_unique<Type>(); }

// Implementation.

template <class T>
layout::DistributedMatrix<T> Work::allocated(const layout::Layout& layout, const std::string& what) {
  return mpi::agreed(context, [&] {
    try {
      return layout::DistributedMatrix<T>(layout, context.rank());
    } catch (const std::bad_alloc&) {
      throw OutOfMemory(fmt::format("no memory for the {} that rank {} holds of {}",
                                    bytes_text(layout.elements_of(context.rank()) * Index{sizeof(T)}), context.rank(),
                                    what));
    }
  });
}

template <iterate::Solver S>
Iterated Work::iterate(S& solver, Checkpoints& checkpoints, const std::function<std::string()>& news) {
  const JointStopwatch watch(context);
  if (const auto* const from = checkpoints.from()) solver.resume(*from);
  checkpoints.forget();
  iterate::Observers observers{.listener = [&](Index /*iteration*/, double /*error*/) { meter.say(news); }};
  checkpoints.put_into(observers);
  meter.stage("iteration 1", 0, 0);
  iterate::run(solver, observers);
  checkpoints.end_iteration();
  return {solver.state(), watch.seconds(), checkpoints.resumed_at()};
}

template <io::FileElement T>
layout::DistributedMatrix<T> Work::read_matrix(const InputFile& file) {
  const Index bytes = layout::elements(file.shape) * Index{sizeof(T)};
  meter.stage("reading " + file.path, bytes / context.size(), bytes);
  const JointStopwatch watch(context);
  auto matrix = io::read_matrix_file<T>(context, file.path, file, meter.progress());
  read.seconds += watch.seconds();
  read.bytes += bytes;
  return matrix;
}

template <io::FileElement T>
layout::DistributedMatrix<T> Work::read_matrix(const InputFile& file, const layout::Layout& layout,
                                               const std::string& what) {
  auto slab = read_matrix<T>(file);
  return slab.layout() == layout ? std::move(slab) : moved(slab, layout, what);
}

template <class T>
layout::DistributedMatrix<T> Work::moved(const layout::DistributedMatrix<T>& from, const layout::Layout& to,
                                         const std::string& what) {
  auto matrix = allocated<T>(to, what);
  redistribute::Redistribution(context, from.layout(), to).execute(from, matrix);
  return matrix;
}

template <io::FileElement T>
void Work::write_matrix(const std::string& path, layout::DistributedMatrix<T> matrix, StorageOrder order) {
  const layout::Layout slab = slabs(matrix.layout().shape(), io::written_order(path, order));
  if (matrix.layout() != slab) matrix = moved(matrix, slab, path);
  write_matrix(path, matrix);
}

template <class T>
layout::DistributedMatrix<T> Work::read_as(const InputFile& file, const std::optional<layout::Layout>& layout) {
  if (!io::is_complex(io::dtype_of<T>())) expect_real(file);
  return io::with_dtype(file.dtype, [&]<class File>() {
    auto raw = layout ? read_matrix<File>(file, *layout, file.path) : read_matrix<File>(file);
    if constexpr (std::is_same_v<File, T>) {
      return raw;
    } else {
      auto result = allocated<T>(raw.layout(), file.path);
      for (std::size_t t = 0; t < raw.tiles().size(); ++t) {
        const auto& from = raw.const_tiles()[t];
        T* const to = result.tiles()[t].data();
        for (Index i = 0; i < from.span(); ++i) {
          if constexpr (std::is_arithmetic_v<File>) {
            to[i] = static_cast<decltype(std::abs(T{}))>(from.data()[i]);
          } else if constexpr (!std::is_arithmetic_v<T>) {
            to[i] = T(from.data()[i]);
          }
        }
      }
      return result;
    }
  });
}

}  // namespace plait::cli
