#pragma once

/// Contexts, which all that is collective takes, and communication of a program's own.

#include "plait/mpi/agreed.hpp"
#include "plait/mpi/collectives.hpp"
#include "plait/mpi/communicator.hpp"
#include "plait/mpi/context.hpp"
#include "plait/mpi/environment.hpp"
#include "plait/mpi/reduction.hpp"
