#pragma once

/// What every file of vector kernels includes before Highway's `foreach_target.h`: which targets plait compiles.
///
/// Arm's SVE with a fixed vector length would only repeat what the scalable targets do.
#ifndef HWY_DISABLED_TARGETS
#define HWY_DISABLED_TARGETS (HWY_SVE_256 | HWY_SVE2_128)
#endif

/// Whether the target of this round is one of real vectors. What stands in for them elsewhere is no better than plait's
/// own scalar code.
#define PLAIT_SIMD_VECTORS (HWY_TARGET != HWY_SCALAR && HWY_TARGET != HWY_EMU128)

/// Whether the length of its vectors is known when plait is compiled, which that of SVE's is not.
#define PLAIT_SIMD_FIXED_LENGTH_VECTORS (PLAIT_SIMD_VECTORS && !HWY_HAVE_SCALABLE)
