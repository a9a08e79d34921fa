#include "plait/sinkhorn/coffee/dealt_rows.hpp"

#include <algorithm>
#include <numeric>

#include "plait/collective/calls.hpp"
#include "plait/layout/axis.hpp"
#include "plait/mpi/agreed.hpp"
#include "plait/mpi/collectives.hpp"

namespace plait::sinkhorn {

namespace {

Index sum_of(const std::vector<Index>& values) { return std::accumulate(values.begin(), values.end(), Index{0}); }

template <class T>
void copy_rows(matrix_view<const T> from, T* to) {
  for (Index i = 0; i < from.rows(); ++i) {
    std::copy_n(from.data() + i * from.leading_dimension(), from.columns(), to + i * from.columns());
  }
}

std::vector<Index> times(const std::vector<Index>& rows, Index columns) {
  std::vector<Index> elements;
  elements.reserve(rows.size());
  for (const Index count : rows) elements.push_back(count * columns);
  return elements;
}

}  // namespace

template <class T>
DealtRows<T>::DealtRows(mpi::Context& context, matrix_view<T> rows, std::span<const double> marginals)
    : context_(context), kept_(rows), dealt_(rows), marginals_(marginals.begin(), marginals.end()) {
  const mpi::NodeTopology& topology = context.topology();
  const auto ranks = static_cast<std::size_t>(context.size());
  given_.assign(ranks, 0);
  const int workers = topology.node().size() - 1;
  const bool gives = workers > 0 && topology.node_rank_of(context.rank()) == 0;
  if (gives) {
    const auto parts = layout::Axis::even(rows.rows(), workers);
    for (int rank = 0; rank < context.size(); ++rank) {
      if (rank == context.rank() || topology.node_of(rank) != topology.node_of(context.rank())) continue;
      given_[static_cast<std::size_t>(rank)] = parts.local_extent(topology.node_rank_of(rank) - 1);
    }
  }
  taken_.assign(ranks, 0);
  const std::vector<Index> one(ranks, 1);
  collective::all_to_all(context, std::span<const Index>(given_), one, std::span<Index>(taken_), one);

  const Index columns = rows.columns();
  const Index own = gives ? 0 : rows.rows();
  const Index taken = sum_of(taken_);
  Array<T> packed;
  mpi::agreed(context, [&] {
    if (gives) packed = Array<T>(rows.rows() * columns);
    if (taken > 0) copy_ = Array<T>((own + taken) * columns);
    marginals_.resize(static_cast<std::size_t>(own + taken));
  });
  if (gives) copy_rows<T>(rows, packed.data());
  if (taken > 0) copy_rows<T>(rows, copy_.data());
  const std::span<T> room = taken > 0 ? copy_.span().subspan(static_cast<std::size_t>(own * columns)) : std::span<T>();
  collective::all_to_all(context, std::span<const T>(packed.span()), times(given_, columns), room,
                         times(taken_, columns));
  collective::all_to_all(context, gives ? marginals : std::span<const double>(), given_,
                         std::span(marginals_).subspan(static_cast<std::size_t>(own)), taken_);
  if (gives) dealt_ = {rows.data(), 0, columns, rows.leading_dimension(), StorageOrder::row_major};
  if (taken > 0) dealt_ = {copy_.data(), own + taken, columns, std::max(Index{1}, columns), StorageOrder::row_major};
}

template <class T>
std::vector<T> DealtRows<T>::put_back(const std::vector<T>& factors) {
  const Index columns = kept_.columns();
  const Index given = sum_of(given_);
  const Index taken = sum_of(taken_);
  const auto own = static_cast<std::size_t>(dealt_.rows() - taken);
  Array<T> packed;
  std::vector<T> back;
  mpi::agreed(context_, [&] {
    if (given > 0) packed = Array<T>(given * columns);
    back.assign(factors.begin(), factors.begin() + static_cast<std::ptrdiff_t>(own));
    back.resize(own + static_cast<std::size_t>(given));
  });
  const std::span<T> room = taken > 0 ? copy_.span().subspan(own * static_cast<std::size_t>(columns)) : std::span<T>();
  collective::all_to_all(context_, std::span<const T>(room), times(taken_, columns), packed.span(),
                         times(given_, columns));
  collective::all_to_all(context_, std::span(factors).subspan(own), taken_, std::span(back).subspan(own), given_);
  const auto put = [&](const T* from) {
    for (Index i = 0; i < kept_.rows(); ++i) {
      std::copy_n(from + i * columns, columns, kept_.data() + i * kept_.leading_dimension());
    }
  };
  if (given > 0) put(packed.data());
  if (taken > 0) put(copy_.data());
  return back;
}

template class DealtRows<double>;
template class DealtRows<float>;

}  // namespace plait::sinkhorn
