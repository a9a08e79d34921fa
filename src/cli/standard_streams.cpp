#include "cli/standard_streams.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <csignal>

namespace plait::cli {

void make_standard_streams_safe() {
  std::signal(SIGPIPE, SIG_IGN);

  constexpr std::array against_its_use{O_WRONLY, O_RDONLY, O_RDONLY};
  for (int descriptor = 0; descriptor < 3; ++descriptor) {
    if (fcntl(descriptor, F_GETFD) != -1) continue;
    // The lowest free number is the one that is asked for; if /dev/null is missing there is nothing better to do.
    static_cast<void>(open("/dev/null", against_its_use[static_cast<std::size_t>(descriptor)]));
  }
}

}  // namespace plait::cli
