#pragma once

#include <optional>
#include <string>

namespace plait::dense {

/// For which processor OpenBLAS' kernels in use were written, such as "Haswell" or "SkylakeX"; empty for other
/// libraries.
[[nodiscard]] std::string blas_kernels();

/// What OPENBLAS_CORETYPE is to be, before the program starts, so that OpenBLAS uses this processor's vectors: kernels
/// are chosen by a list of models, and one that is newer than the library gets those of 2004, a sixth as fast. Empty
/// where they suit, or where a user has set it.
[[nodiscard]] std::optional<std::string> better_blas_kernels();

}  // namespace plait::dense
