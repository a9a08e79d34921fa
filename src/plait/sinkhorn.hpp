#pragma once

/// Scaling of matrices to given sums, balancing, and entropic optimal transport.

#include "plait/sinkhorn/balance/balance.hpp"
#include "plait/sinkhorn/scaling/scale.hpp"
#include "plait/sinkhorn/transport/barycentre.hpp"
#include "plait/sinkhorn/transport/divergence.hpp"
#include "plait/sinkhorn/transport/transport.hpp"
