#pragma once

/// Ghost layers of fields on boxes, filled by a schedule that is run again and again.

#include "plait/halo/exchange.hpp"
