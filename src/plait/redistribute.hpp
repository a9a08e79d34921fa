#pragma once

/// Redistribution, A ← alpha·op(B) + beta·A, and which rank should play which role in it.

#include "plait/redistribute/batch.hpp"
#include "plait/redistribute/communication_volume.hpp"
#include "plait/redistribute/redistribution.hpp"
#include "plait/redistribute/relabel/package_cost.hpp"
#include "plait/redistribute/relabel/relabel.hpp"
#include "plait/redistribute/relabel/sized_pair.hpp"
