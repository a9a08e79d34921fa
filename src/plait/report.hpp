#pragma once

/// What a run did: traffic, overlap, and the trace of all ranks.

#include "plait/report/overlap.hpp"
#include "plait/report/trace.hpp"
#include "plait/report/trace_json.hpp"
#include "plait/report/traffic.hpp"
