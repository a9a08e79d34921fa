#pragma once

/// Graphs of operations of one's own, and how they are carried out.

#include "plait/schedule/combine.hpp"
#include "plait/schedule/graph.hpp"
#include "plait/schedule/schedule.hpp"
