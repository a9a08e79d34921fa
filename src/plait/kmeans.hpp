#pragma once

/// k-means on the rows of a matrix, with the same bits on any number of ranks.

#include "plait/kmeans/balance.hpp"
#include "plait/kmeans/points.hpp"
#include "plait/kmeans/solver.hpp"
#include "plait/kmeans/start.hpp"
