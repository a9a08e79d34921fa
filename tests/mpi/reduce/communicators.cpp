// Communicators come and go, and threads use several at once.
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <mpi.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include "mpi/reduce/program.hpp"

namespace {

constexpr int small = 100;
constexpr int large = 600001;  // doubles

void check_sum(MPI_Comm comm, int n) {
  int ranks = 0;
  MPI_Comm_size(comm, &ranks);
  std::vector<double> data(static_cast<std::size_t>(n), 1.0);
  MPI_Allreduce(MPI_IN_PLACE, data.data(), n, MPI_DOUBLE, MPI_SUM, comm);
  if (data.front() != ranks || data.back() != ranks) complain("a sum of " + std::to_string(n));
}

// Begun, and waited for.
void check_later_sum(MPI_Comm comm, int n) {
  int ranks = 0;
  MPI_Comm_size(comm, &ranks);
  std::vector<double> data(static_cast<std::size_t>(n), 1.0);
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Iallreduce(MPI_IN_PLACE, data.data(), n, MPI_DOUBLE, MPI_SUM, comm, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  if (data.front() != ranks || data.back() != ranks) complain("a sum of " + std::to_string(n) + " that was begun");
}

// More than a library may want to see before it takes an interest.
void reduce_much(MPI_Comm comm) {
  for (int i = 0; i < 4; ++i) check_sum(comm, large);
}

void reduce_little(MPI_Comm comm) { check_sum(comm, small); }

void come_and_go(int times, void (*use)(MPI_Comm)) {
  for (int i = 0; i < times; ++i) {
    MPI_Comm comm = MPI_COMM_NULL;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    use(comm);
    MPI_Comm_free(&comm);
  }
}

long files_in(const char* folder) {
  const std::filesystem::directory_iterator files(folder);
  return static_cast<long>(std::distance(begin(files), end(files)));
}

// Of this process, in pages.
long resident() {
  long total = 0;
  long pages = 0;
  std::FILE* file = std::fopen("/proc/self/statm", "r");
  if (file == nullptr || std::fscanf(file, "%ld %ld", &total, &pages) != 2) complain("statm");
  if (file != nullptr) std::fclose(file);
  return pages;
}

// A rank waits in a reduction while another one still needs its message, which is too long to be sent ahead.
void reduce_with_message_under_way() {
  int rank = 0;
  int ranks = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  std::vector<double> message(large, rank);
  MPI_Request request = MPI_REQUEST_NULL;
  if (rank == 0 && ranks > 1) MPI_Isend(message.data(), large, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD, &request);
  if (rank == 1) MPI_Recv(message.data(), large, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  check_sum(MPI_COMM_WORLD, small);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
}

int copies = 0;
int deletions = 0;

extern "C" int copy_attribute(MPI_Comm, int, void*, void*, void*, int* flag) {
  ++copies;
  *flag = 1;
  return MPI_SUCCESS;
}

extern "C" int delete_attribute(MPI_Comm, int, void*, void*) {
  ++deletions;
  return MPI_SUCCESS;
}

// A program's attributes are copied and deleted when it duplicates and frees communicators, and at no other time.
void keep_attributes() {
  MPI_Comm comm = MPI_COMM_NULL;
  int key = MPI_KEYVAL_INVALID;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_create_keyval(copy_attribute, delete_attribute, &key, nullptr);
  MPI_Comm_set_attr(comm, key, nullptr);
  reduce_much(comm);
  MPI_Comm_free(&comm);
  MPI_Comm_free_keyval(&key);
  if (copies != 0 || deletions != 1) complain("attributes of the program's own");
}

extern "C" int reduce_on_what_is_freed(MPI_Comm comm, int, void*, void*) {
  check_sum(comm, small);
  return MPI_SUCCESS;
}

// Handles come again, of other ranks each time; the last call on some comes while they are being freed.
void use_handles_again() {
  int rank = 0;
  int ranks = 0;
  int key = MPI_KEYVAL_INVALID;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, reduce_on_what_is_freed, &key, nullptr);
  for (int i = 0; i < 12; ++i) {
    MPI_Comm comm = MPI_COMM_NULL;
    const bool is_alone = i % 3 == 1;
    MPI_Comm_split(MPI_COMM_WORLD, is_alone ? rank : 0, i % 2 == 0 ? rank : -rank, &comm);
    if (i % 2 == 0) MPI_Comm_set_attr(comm, key, nullptr);
    if (i % 4 == 0) reduce_much(comm);
    check_sum(comm, small);
    int own = 0;
    MPI_Comm_rank(comm, &own);
    double last = own;
    MPI_Bcast(&last, 1, MPI_DOUBLE, is_alone ? 0 : ranks - 1, comm);
    double highest = own;
    MPI_Allreduce(MPI_IN_PLACE, &highest, 1, MPI_DOUBLE, MPI_MAX, comm);
    if (highest != last) complain("ranks of a communicator whose handle came again");
    if (i % 4 < 2) {
      MPI_Comm_free(&comm);
    } else {
      MPI_Comm_disconnect(&comm);
    }
  }
  MPI_Comm_free_keyval(&key);
}

// Reductions that don't wait, on the same communicator: before those that do, meanwhile and after them.
void mix_with_those_that_do_not_wait() {
  int ranks = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  std::vector<double> sums(large, 1.0);
  std::vector<double> few(small, 2.0);
  for (int i = 0; i < 4; ++i) {
    std::fill(sums.begin(), sums.end(), 1.0);
    std::fill(few.begin(), few.end(), 2.0);
    std::vector<MPI_Request> requests(2, MPI_REQUEST_NULL);
    MPI_Iallreduce(MPI_IN_PLACE, sums.data(), large, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, requests.data());
    check_sum(MPI_COMM_WORLD, i % 2 == 0 ? small : large);
    MPI_Iallreduce(MPI_IN_PLACE, few.data(), small, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, &requests[1]);
    check_sum(MPI_COMM_WORLD, i % 2 == 0 ? large : small);
    MPI_Waitall(2, requests.data(), MPI_STATUSES_IGNORE);
    if (sums.front() != ranks || sums.back() != ranks) complain("a sum that was not waited for");
    if (few.front() != 2 * ranks || few.back() != 2 * ranks) complain("a short sum that was not waited for");
  }
}

// Each rank in turn comes late, to calls in which those that only give may be done long before.
void come_late() {
  constexpr int calls = 40;
  int rank = 0;
  int ranks = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  for (int late = 0; late < ranks; ++late) {
    if (rank == late) std::this_thread::sleep_for(std::chrono::milliseconds(20));
    for (int call = 0; call < calls; ++call) {
      const int n = call % 8 == 7 ? large / 4 : small;
      const std::vector<double> in(static_cast<std::size_t>(n), call + rank);
      std::vector<double> out(in.size());
      MPI_Reduce(in.data(), out.data(), n, MPI_DOUBLE, MPI_MAX, late, MPI_COMM_WORLD);
      if (rank == late && (out.front() != call + ranks - 1 || out.back() != call + ranks - 1)) complain("a late root");
    }
    check_sum(MPI_COMM_WORLD, small);
  }
}

// Of a process that uses MPI only here.
void fork_once() {
  const pid_t child = fork();
  if (child == 0) std::exit(0);
  int status = 0;
  waitpid(child, &status, 0);
  if (status != 0) complain("a forked process");
}

}  // namespace

void check_communicators() {
  come_and_go(100, reduce_little);
  come_and_go(5, reduce_much);
  const long descriptors = files_in("/proc/self/fd");
  const long pages = resident();
  come_and_go(3000, reduce_little);
  come_and_go(20, reduce_much);
  if (files_in("/proc/self/fd") > descriptors + 2) complain("descriptors stay open");
  if (resident() > pages + 5000) complain("memory grows by " + std::to_string(resident() - pages) + " pages");
  fork_once();
  keep_attributes();
  use_handles_again();

  // More than may be served at once, all used in turn, and some left to MPI_Finalize.
  std::vector<MPI_Comm> many(80);
  for (MPI_Comm& comm : many) {
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    reduce_much(comm);
  }
  for (const MPI_Comm comm : many) reduce_little(comm);
  for (std::size_t i = 0; i < many.size(); i += 2) MPI_Comm_free(&many[i]);
  reduce_much(MPI_COMM_WORLD);
  reduce_with_message_under_way();
  mix_with_those_that_do_not_wait();
  come_late();
}

// One rank has no descriptors left when a library may take an interest; it is to decide as the others do.
void check_no_descriptors() {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  std::vector<int> open_files;
  if (rank == 0) {
    rlimit limit{};
    getrlimit(RLIMIT_NOFILE, &limit);
    limit.rlim_cur = 256;
    setrlimit(RLIMIT_NOFILE, &limit);
    for (int file = 0; file >= 0; file = open("/dev/null", O_RDONLY)) {
      if (file > 0) open_files.push_back(file);
    }
    if (open_files.empty()) complain("descriptors");
  }
  reduce_much(MPI_COMM_WORLD);
  for (const int file : open_files) close(file);
  reduce_much(MPI_COMM_WORLD);
}

// Processes that were started apart, whose numbers among their own are the same.
void check_spawned() {
  MPI_Comm parents = MPI_COMM_NULL;
  MPI_Comm both = MPI_COMM_NULL;
  MPI_Comm all = MPI_COMM_NULL;
  MPI_Comm_get_parent(&parents);
  const bool is_child = parents != MPI_COMM_NULL;
  if (is_child) {
    both = parents;
  } else {
    std::string command = std::filesystem::read_symlink("/proc/self/exe");
    std::string part = "spawned";
    char* arguments[] = {part.data(), nullptr};  // NOLINT(*-avoid-c-arrays): MPI's
    MPI_Comm_spawn(command.data(), arguments, 2, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &both, MPI_ERRCODES_IGNORE);
  }
  MPI_Intercomm_merge(both, is_child ? 1 : 0, &all);
  reduce_much(all);
  reduce_much(MPI_COMM_WORLD);
  reduce_little(all);
  MPI_Comm_free(&all);
  MPI_Comm_disconnect(&both);
}

namespace {

std::atomic<int> errors_heard = 0;
void hear_error(MPI_Comm* /*comm*/, int* /*code*/, ...) { ++errors_heard; }

// Errors of a thread come to the program's handler whatever is asked by others meanwhile, each of which has to ask, as
// it knows no communicator yet.
void make_errors_meanwhile(const std::vector<MPI_Comm>& comms) {
  MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
  MPI_Comm_create_errhandler(hear_error, &handler);
  for (const MPI_Comm comm : {MPI_COMM_WORLD, MPI_COMM_SELF}) MPI_Comm_set_errhandler(comm, handler);
  std::atomic<bool> is_done = false;
  int made = 0;
  std::thread errors([&] {
    for (int size = 0; !is_done; ++made) MPI_Comm_size(MPI_COMM_NULL, &size);
  });
  for (int i = 0; i < 50; ++i) {
    std::vector<std::thread> threads;
    threads.reserve(comms.size());
    for (const MPI_Comm comm : comms) threads.emplace_back(check_sum, comm, small);
    for (std::thread& thread : threads) thread.join();
  }
  is_done = true;
  errors.join();
  if (errors_heard != made)
    complain(std::to_string(made - errors_heard) + " of " + std::to_string(made) + " errors unheard");
  for (const MPI_Comm comm : {MPI_COMM_WORLD, MPI_COMM_SELF}) {
    MPI_Errhandler found = MPI_ERRHANDLER_NULL;
    MPI_Comm_get_errhandler(comm, &found);
    if (found != handler) complain("another error handler");
    MPI_Errhandler_free(&found);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_ARE_FATAL);
  }
  MPI_Errhandler_free(&handler);
}

}  // namespace

void check_threads() {
  int provided = 0;
  MPI_Query_thread(&provided);
  if (provided != MPI_THREAD_MULTIPLE) return;
  std::vector<MPI_Comm> comms(4);
  for (MPI_Comm& comm : comms) MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  std::vector<std::thread> threads;
  for (const MPI_Comm comm : comms) {
    threads.emplace_back([comm] {
      for (int i = 0; i < 20; ++i) check_sum(comm, i % 4 == 0 ? large : small);
      for (int i = 0; i < 20; ++i) check_later_sum(comm, i % 4 == 0 ? large : 30 * small);
    });
  }
  for (std::thread& thread : threads) thread.join();
  make_errors_meanwhile(comms);
  for (MPI_Comm& comm : comms) MPI_Comm_free(&comm);
}
