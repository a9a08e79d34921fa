#pragma once

/// What the machine can do, and where its ranks are.

#include "plait/model/machine.hpp"
#include "plait/model/placement.hpp"
