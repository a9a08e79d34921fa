#include "shim/reduce/posted_request.hpp"

#include <dlfcn.h>

#include <atomic>
#include <exception>
#include <mutex>
#include <utility>
#include <vector>

#include "plait/base/backoff.hpp"
#include "plait/mpi/communicator.hpp"
#include "plait/mpi/progress.hpp"

namespace plait::shim::reduce {

namespace {

using Progress = collective::PostedReductions::Progress;

/// Belongs to the request, and goes with it.
struct PostedRequest {
  std::unique_ptr<collective::PostedReductions::Running> running;
  MPI_Request request = MPI_REQUEST_NULL;
  int code = MPI_SUCCESS;
  std::atomic<bool> is_complete = false;
};

// NOLINTBEGIN(cppcoreguidelines-avoid-non-const-global-variables): as MPI's progress, there is one of it in a process
std::mutex under_way_mutex;
std::vector<PostedRequest*> under_way;
std::atomic<std::size_t> under_way_count = 0;
// NOLINTEND(cppcoreguidelines-avoid-non-const-global-variables)

int fill_status(void* posted, MPI_Status* status) {
  MPI_Status_set_elements(status, MPI_BYTE, 0);
  MPI_Status_set_cancelled(status, 0);
  return static_cast<PostedRequest*>(posted)->code;
}

int forget_request(void* posted) {
  delete static_cast<PostedRequest*>(posted);
  return MPI_SUCCESS;
}

// A reduction can't be called back.
int cancel_nothing(void* /*posted*/, int /*is_complete*/) { return MPI_SUCCESS; }

// What goes wrong, whoever waits for the request is told.
Progress advance(PostedRequest& posted) noexcept {
  try {
    return posted.running->advance();
  } catch (const std::exception&) {
    posted.code = MPI_ERR_NO_MEM;
    return Progress::done;
  }
}

#if defined(MPICH_VERSION)

int poll(void* /*posted*/, MPI_Status* /*status*/) {
  static_cast<void>(advance_posted());
  return MPI_SUCCESS;
}

// MPICH wants all of them completed. Another rank may need this one's progress to come to post.
int wait(int count, void** posted, double /*timeout*/, MPI_Status* /*status*/) {
  const mpi::Communicator self = mpi::Communicator::borrowed(MPI_COMM_SELF);
  for (int i = 0; i < count; ++i) {
    Backoff backoff;
    while (!static_cast<PostedRequest*>(posted[i])->is_complete) {
      if (advance_posted() != 0) continue;
      mpi::progress(self);
      backoff.idle();
    }
  }
  return MPI_SUCCESS;
}

int start(PostedRequest& posted) {
  return MPIX_Grequest_start(fill_status, forget_request, cancel_nothing, poll, wait, &posted, &posted.request);
}

#else

int start(PostedRequest& posted) {
  return MPI_Grequest_start(fill_status, forget_request, cancel_nothing, &posted, &posted.request);
}

#endif

}  // namespace

#if defined(MPICH_VERSION)

// While a thread waits, MPICH keeps the others out.
bool can_make_requests() noexcept {
  int provided = MPI_THREAD_MULTIPLE;
  return MPI_Query_thread(&provided) == MPI_SUCCESS && provided != MPI_THREAD_MULTIPLE;
}

#else

// By a function of Open MPI's portability layer, which is the same in its series 4 and 5.
bool can_make_requests() noexcept {
  using Register = int (*)(int (*)());
  static const bool is_registered = [] {
    const auto registers = reinterpret_cast<Register>(dlsym(RTLD_DEFAULT, "opal_progress_register"));
    return registers != nullptr && registers(advance_posted) == 0;
  }();
  return is_registered;
}

#endif

int advance_posted() noexcept {
  if (under_way_count.load(std::memory_order_relaxed) == 0) return 0;
  const std::unique_lock lock(under_way_mutex, std::try_to_lock);
  if (!lock) return 0;
  int events = 0;
  std::erase_if(under_way, [&](PostedRequest* posted) {
    const Progress progress = advance(*posted);
    if (progress != Progress::waiting) ++events;
    if (progress != Progress::done) return false;
    posted->is_complete = true;
    MPI_Grequest_complete(posted->request);  // may be the end of it
    return true;
  });
  under_way_count.store(under_way.size(), std::memory_order_relaxed);
  return events;
}

int make_request(std::unique_ptr<collective::PostedReductions::Running> running, MPI_Request* request) {
  auto posted = std::make_unique<PostedRequest>();
  posted->running = std::move(running);
  const std::scoped_lock lock(under_way_mutex);
  under_way.push_back(posted.get());
  if (const int code = start(*posted); code != MPI_SUCCESS) {
    under_way.pop_back();
    return code;
  }
  under_way_count.store(under_way.size(), std::memory_order_relaxed);
  *request = posted.release()->request;  // the request's now
  return MPI_SUCCESS;
}

}  // namespace plait::shim::reduce
