#pragma once

#include "cli/host/options.hpp"
