#pragma once

#include "cli/host/guard.hpp"
