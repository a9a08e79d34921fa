#include "shim/reduce/posted_request.hpp"

#include <dlfcn.h>

#include <atomic>
#include <exception>
#include <mutex>
#include <utility>
#include <vector>

#include "plait/base/backoff.hpp"
#include "plait/base/error.hpp"
#include "plait/mpi/communicator.hpp"
#include "plait/mpi/message.hpp"

#include "shim/reduce/open_mpi_request.h"

namespace plait::shim::reduce {

namespace {

using Progress = collective::node::PostedReductions::Progress;
using Running = collective::node::PostedReductions::Running;

/// Belongs to the request, and goes with it.
class PostedRequest {
 public:
  PostedRequest() = default;
  PostedRequest(const PostedRequest&) = delete;
  PostedRequest& operator=(const PostedRequest&) = delete;
  virtual ~PostedRequest() = default;

  /// Tells MPI that it is done, which may be the end of it.
  virtual void complete() = 0;

  std::unique_ptr<Running> running;
  MPI_Request request = MPI_REQUEST_NULL;
  int code = MPI_SUCCESS;
};

// NOLINTBEGIN(cppcoreguidelines-avoid-non-const-global-variables): as MPI's progress, there is one of it in a process
std::mutex under_way_mutex;
std::vector<PostedRequest*> under_way;
std::atomic<std::size_t> under_way_count = 0;
// NOLINTEND(cppcoreguidelines-avoid-non-const-global-variables)

/// Done once.
class SingleRequest final : public PostedRequest {
 public:
  void complete() override {
    is_complete_ = true;
    if (is_forgotten_) {
      delete this;
    } else {
      MPI_Grequest_complete(request);
    }
  }

  [[nodiscard]] bool is_complete() const noexcept { return is_complete_; }

  // What is under way goes on to its end, though MPI wants none of its reductions to be forgotten before.
  void forget() noexcept {
    if (is_complete_) {
      delete this;
    } else {
      const std::scoped_lock lock(under_way_mutex);
      is_forgotten_ = true;
    }
  }

 private:
  std::atomic<bool> is_complete_ = false;
  bool is_forgotten_ = false;
};

int fill_status(void* posted, MPI_Status* status) {
  MPI_Status_set_elements(status, MPI_BYTE, 0);
  MPI_Status_set_cancelled(status, 0);
  return static_cast<SingleRequest*>(posted)->code;
}

int forget_request(void* posted) {
  static_cast<SingleRequest*>(posted)->forget();
  return MPI_SUCCESS;
}

// A reduction can't be called back.
int cancel_nothing(void* /*posted*/, int /*is_complete*/) { return MPI_SUCCESS; }

// What goes wrong, whoever waits for the request is told.
Progress advance(PostedRequest& posted) noexcept {
  try {
    return posted.running->advance();
  } catch (const ArgumentError&) {  // counts, types, roots or routines differ between ranks
    posted.code = MPI_ERR_TRUNCATE;
  } catch (const std::exception&) {
    posted.code = MPI_ERR_NO_MEM;
  }
  return Progress::done;
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
    while (!static_cast<SingleRequest*>(posted[i])->is_complete()) {
      if (advance_posted() != 0) continue;
      mpi::progress(self);
      backoff.idle();
    }
  }
  return MPI_SUCCESS;
}

int start(SingleRequest& posted) {
  return MPIX_Grequest_start(fill_status, forget_request, cancel_nothing, poll, wait, &posted, &posted.request);
}

#else

int start(SingleRequest& posted) {
  return MPI_Grequest_start(fill_status, forget_request, cancel_nothing, &posted, &posted.request);
}

#endif

/// Started again and again.
class PersistentRequest final : public PostedRequest {
 public:
  explicit PersistentRequest(std::function<std::unique_ptr<Running>()> begin) : begin_(std::move(begin)) {}
  ~PersistentRequest() override {
    if (request != MPI_REQUEST_NULL) plait_destroy_open_mpi_request(request);
  }

  void complete() override {
    running.reset();
    is_under_way_ = false;
    if (is_forgotten_) {
      delete this;
    } else {
      plait_complete_open_mpi_request(request, code);
    }
  }

  void start() noexcept {
    code = MPI_SUCCESS;
    try {
      running = begin_();
    } catch (const std::exception&) {
      code = MPI_ERR_NO_MEM;
    }
    const std::scoped_lock lock(under_way_mutex);
    if (running == nullptr) return complete();
    is_under_way_ = true;
    under_way.push_back(this);
    under_way_count.store(under_way.size(), std::memory_order_relaxed);
  }

  // What is under way goes on to its end.
  void forget() noexcept {
    const std::scoped_lock lock(under_way_mutex);
    is_forgotten_ = true;
    if (!is_under_way_) delete this;
  }

 private:
  std::function<std::unique_ptr<Running>()> begin_;
  bool is_under_way_ = false;
  bool is_forgotten_ = false;
};

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
    posted->complete();
    return true;
  });
  under_way_count.store(under_way.size(), std::memory_order_relaxed);
  return events;
}

int make_request(std::unique_ptr<collective::node::PostedReductions::Running> running, MPI_Request* request) {
  auto posted = std::make_unique<SingleRequest>();
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

bool can_make_persistent_requests() noexcept {
  static const bool can = plait_has_open_mpi_requests() && can_make_requests();
  return can;
}

int make_persistent_request(std::function<std::unique_ptr<Running>()> begin, MPI_Request* request) {
  auto made = std::make_unique<PersistentRequest>(std::move(begin));
  made->request = plait_make_open_mpi_request(
      made.get(), [](void* state) { static_cast<PersistentRequest*>(state)->start(); },
      [](void* state) { static_cast<PersistentRequest*>(state)->forget(); });
  if (made->request == MPI_REQUEST_NULL) return MPI_ERR_NO_MEM;
  *request = made.release()->request;  // the request's now
  return MPI_SUCCESS;
}

}  // namespace plait::shim::reduce
