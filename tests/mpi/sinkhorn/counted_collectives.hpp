#pragma once

namespace plait::test {

/// How many of MPI's own collectives this rank has begun so far.
[[nodiscard]] long begun_collectives();

}  // namespace plait::test
