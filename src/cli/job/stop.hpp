#pragma once

#include "cli/host/signals.hpp"
