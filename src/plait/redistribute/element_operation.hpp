#pragma once

#include <functional>

#include "plait/base/index.hpp"
#include "plait/base/matrix_view.hpp"

namespace plait::redistribute {

/// A user's own operation in place of alpha·op(B) + beta·A. It is given rectangles of op(B) and the places of A that
/// belong to them, of the same shape: (i, j) of both is element (row + i, column + j) of the whole matrix A. Which
/// rectangles is not said: every element of A is given once, so the operation has to be element-wise. B's rectangle may
/// lie in another storage order than A's and in a message's memory, true only during the call.
///
/// Several threads of a rank may call it at once. What it throws on any rank, `wait` throws on every rank as a
/// `plait::Error` with that text, after one all-reduce; A is undefined then.
template <class T>
using ElementOperation = std::function<void(matrix_view<const T> b, matrix_view<T> a, Index row, Index column)>;

}  // namespace plait::redistribute
