#pragma once

#include "cli/host/node.hpp"
