#pragma once

/// Elements of half precision, and which instructions kernels use.

#include "plait/simd/float16.hpp"
#include "plait/simd/isa.hpp"
#include "plait/simd/reduce/element_of.hpp"
