#pragma once

/// Collective operations, pipelines of them, reductions within a node, reproducible sums.

#include "plait/collective/calls.hpp"
#include "plait/collective/node/reducer.hpp"
#include "plait/collective/pipeline.hpp"
#include "plait/collective/reproducible_sum.hpp"
#include "plait/collective/stream.hpp"
