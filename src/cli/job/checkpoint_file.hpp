#pragma once

#include "cli/host/checkpoint.hpp"
