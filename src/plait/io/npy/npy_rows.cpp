#include "plait/io/npy/npy_rows.hpp"

#include "plait/io/npy/npy_header.hpp"
#include "plait/mpi/agreed.hpp"

namespace plait::io {

template <FileElement T>
NpyRows<T>::NpyRows(mpi::Context& context, const std::string& path, layout::Shape shape)
    : NpyRows(context, path, shape,
              mpi::agreed(context, [&] { return npy_header_text(dtype_of<T>(), shape, StorageOrder::row_major); })) {}

template <FileElement T>
NpyRows<T>::NpyRows(mpi::Context& context, const std::string& path, layout::Shape shape, const std::string& header)
    : file_(context, path, static_cast<Index>(header.size()) + layout::elements(shape) * Index{sizeof(T)}),
      begin_(static_cast<Index>(header.size())),
      columns_(shape.columns) {
  mpi::agreed(context, [&] {
    if (context.rank() == 0) file_.write_at(0, std::as_bytes(std::span(header)));
  });
}

template <FileElement T>
void NpyRows<T>::write(Index first, std::span<const T> rows) const {
  file_.write_at(begin_ + first * columns_ * Index{sizeof(T)}, std::as_bytes(rows));
}

template class NpyRows<double>;
template class NpyRows<float>;

}  // namespace plait::io
