#pragma once

#include "cli/host/trace.hpp"
