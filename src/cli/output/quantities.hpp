#pragma once

#include "cli/host/text.hpp"
