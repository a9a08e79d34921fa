#pragma once

#include "cli/host/report.hpp"
