#include "plait/io/npy/npy_rows.hpp"

#include <fmt/format.h>

#include "plait/base/error.hpp"
#include "plait/io/byte_order.hpp"
#include "plait/io/file.hpp"
#include "plait/io/npy/npy_header.hpp"
#include "plait/io/slab.hpp"
#include "plait/mpi/agreed.hpp"

namespace plait::io {

template <FileElement T>
NpyRows<T>::NpyRows(mpi::Context& context, const std::string& path, layout::Shape shape)
    : NpyRows(context, path, shape, mpi::agreed(context, [&] {
                return npy_header_text(dtype_of<T>(), Extents::of(shape), StorageOrder::row_major);
              })) {}

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

template <FileElement T>
void read_npy_rows(const std::string& path, const NpyHeader& header, Index first, std::span<T> rows) {
  if (header.dtype != dtype_of<T>() || header.order != StorageOrder::row_major) {
    throw ArgumentError(fmt::format("{}: has elements of {} by {}; expected {} by rows", path, name(header.dtype),
                                    header.order == StorageOrder::row_major ? "rows" : "columns", name(dtype_of<T>())));
  }
  const Index offset = header.data_offset + first * header.shape.columns * Index{sizeof(T)};
  const bool swap = header.big_endian != machine_is_big_endian;
  read_slab(File::open_to_read(path), offset, std::as_writable_bytes(rows), swap ? component_bytes(header.dtype) : 1,
            {});
}

template void read_npy_rows(const std::string&, const NpyHeader&, Index, std::span<double>);
template class NpyRows<double>;
template class NpyRows<float>;

}  // namespace plait::io
