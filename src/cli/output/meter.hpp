#pragma once

#include "cli/host/meter.hpp"
