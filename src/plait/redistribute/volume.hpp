#pragma once

#include "plait/base/index.hpp"

namespace plait::redistribute {

/// Elements that a rank sends to others, receives from others, and keeps.
struct Volume {
  Index sent = 0;
  Index received = 0;
  Index kept = 0;
};

}  // namespace plait::redistribute
