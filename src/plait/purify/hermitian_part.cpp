#include "plait/purify/hermitian_part.hpp"

#include <complex>

#include "plait/purify/elementwise.hpp"
#include "plait/redistribute/redistribution.hpp"

namespace plait::purify {

template <class T>
void take_adjoint(mpi::Context& context, const Matrix<T>& a, Matrix<T>& adjoint) {
  redistribute::Redistribution(context, a.layout(), a.layout(), redistribute::Op::conjugate_transpose)
      .execute(a, adjoint);
}

template <class T>
void take_hermitian_part(Matrix<T>& a, const Matrix<T>& adjoint) {
  blend<T>(0, {{0.5, &a}, {0.5, &adjoint}}, a);
}

#define PLAIT_INSTANTIATE(T)                                               \
  template void take_adjoint(mpi::Context&, const Matrix<T>&, Matrix<T>&); \
  template void take_hermitian_part(Matrix<T>&, const Matrix<T>&);
PLAIT_INSTANTIATE(float)
PLAIT_INSTANTIATE(double)
PLAIT_INSTANTIATE(std::complex<float>)
PLAIT_INSTANTIATE(std::complex<double>)
#undef PLAIT_INSTANTIATE

}  // namespace plait::purify
