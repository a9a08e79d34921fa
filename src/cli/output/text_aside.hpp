#pragma once

#include "cli/host/files.hpp"
