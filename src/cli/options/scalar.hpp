#pragma once

#include "cli/host/values.hpp"
