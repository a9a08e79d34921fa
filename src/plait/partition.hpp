#pragma once

/// Parts of graphs: balanced, with few edges between them.

#include "plait/graph/graph.hpp"
#include "plait/mpi/node_copy.hpp"
#include "plait/partition/order.hpp"
#include "plait/partition/partition.hpp"
#include "plait/partition/quality.hpp"
