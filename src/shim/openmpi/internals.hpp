#pragma once

// Open MPI's own headers, which its development package brings: what a component of it is made of. They want their
// configuration first.
// clang-format off
#include <ompi_config.h>
#include <ompi/constants.h>
#include <ompi/mca/op/op.h>
#include <ompi/mca/op/base/functions.h>
#include <opal/dss/dss.h>
#include <opal/mca/hwloc/hwloc-internal.h>
extern "C" {  // which this one leaves out
#include <opal/util/proc.h>
}
// clang-format on
