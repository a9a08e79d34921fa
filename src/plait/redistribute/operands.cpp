#include "plait/redistribute/operands.hpp"

#include <utility>

namespace plait::redistribute {

Operands::Operands(DType dtype, const void* alpha, TileList source, const void* beta, TileList target)
    : Operands(with_dtype(dtype, [&]<class T>() {
        T of_source{1}, of_target{0};
        if (alpha != nullptr) std::memcpy(&of_source, alpha, sizeof(T));
        if (beta != nullptr) std::memcpy(&of_target, beta, sizeof(T));
        Operands typed(Typed<T>(), std::move(source), std::move(target), of_source != T{0});
        typed.set_scalars(of_source, of_target);
        return typed;
      })) {}

}  // namespace plait::redistribute
