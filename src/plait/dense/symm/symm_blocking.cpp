#include "plait/dense/symm/symm_blocking.hpp"

#include <cstring>

#include "plait/mpi/message.hpp"
#include "plait/mpi/mpi_collectives.hpp"

namespace plait::dense {

SymmBlocking::SymmBlocking(mpi::Context& context, const SymmGrid& mesh, const SymmProducts& products,
                           const SymmOptions& options)
    : SymmPlan(mesh, options),
      context_(&context),
      products_(&products),
      takes_part_(mesh.contains(context.rank())),
      tags_(context.reserve_tags(1)) {
  if (!takes_part_) return;
  me_ = mesh.place(context.rank());
  rows_ = mesh.extent(me_.row), inner_ = mesh.extent(me_.column), columns_ = mesh.extent(me_.layer);
  along_k_ = context.comm().subset(mesh.ranks_of_layers(me_.row, me_.column), 0);
  along_j_ = context.comm().subset(mesh.ranks_of_row(me_.row, me_.layer), 0);
  along_i_ = context.comm().subset(mesh.ranks_of_column(me_.column, me_.layer), 0);
}

void SymmBlocking::make(Powers powers) {
  if (!takes_part_) return;
  const auto need = [&](Buffer& buffer, Index elements) {
    if (buffer.size() < elements * products_->element_bytes) buffer = Buffer(elements * products_->element_bytes);
  };
  need(a_, rows_ * inner_);
  need(b_, inner_ * columns_);
  need(c_, rows_ * columns_);
  need(d2_, rows_ * columns_);
  if (powers == Powers::square_and_cube) need(d3_, rows_ * columns_);
}

Index SymmBlocking::workspace_bytes() const noexcept {
  return a_.size() + b_.size() + c_.size() + d2_.size() + d3_.size();
}

void SymmBlocking::multiply(bool transposes_b) {
  const ConstBlock b = transposes_b ? packed(b_.data(), columns_, inner_) : packed(b_.data(), inner_, columns_);
  products_->multiply(false, packed(a_.data(), rows_, inner_), transposes_b, b, packed(c_.data(), rows_, columns_));
}

void SymmBlocking::reduce(int root, std::byte* out) {
  const auto c = bytes(c_.data(), rows_ * columns_);
  mpi::blocking_reduce(*along_j_, c, bytes(out, rows_ * columns_), products_->sum, root);
}

// Block (i, k) from P(i, reducer(i, k), k) to P(i, k, 0).
void SymmBlocking::send_home(Reducer reducer, const std::byte* block, std::byte* home) {
  const mpi::Communicator& comm = context_->comm();
  const bool is_home = me_.layer == 0;
  const int from = mesh().rank(me_.row, reducer(me_.row, me_.column), me_.column);
  const int to = mesh().rank(me_.row, me_.layer, 0);
  const bool sends = me_.column == reducer(me_.row, me_.layer) && rows_ * columns_ > 0;
  mpi::Request received;
  if (is_home && from != comm.rank() && rows_ * inner_ > 0)
    received = mpi::start_receive(comm, bytes(home, rows_ * inner_), from, tags_.first());
  if (sends && to == comm.rank()) {
    std::memcpy(home, block, bytes(home, rows_ * columns_).size());
  } else if (sends) {
    mpi::start_send(comm, {block, bytes(home, rows_ * columns_).size()}, to, tags_.first()).wait();
  }
  received.wait();
}

void SymmBlocking::square(const SymmOperands& operands) {
  if (me_.layer == 0 && rows_ * inner_ > 0) std::memcpy(a_.data(), operands.d, bytes(a_.data(), rows_ * inner_).size());
  const auto broadcast = [&](const mpi::Communicator& comm, std::byte* data, Index elements, int root) {
    mpi::blocking_broadcast(comm, bytes(data, elements), products_->element_bytes, root);
  };
  broadcast(*along_k_, a_.data(), rows_ * inner_, 0);
  // D(k, j), whose conjugate transpose is B(j, k), from P(k, j, k).
  if (me_.row == me_.layer && rows_ * inner_ > 0)
    std::memcpy(b_.data(), a_.data(), bytes(a_.data(), rows_ * inner_).size());
  broadcast(*along_i_, b_.data(), columns_ * inner_, me_.layer);
  multiply(true);
  reduce(is_original() ? me_.layer : me_.row, d2_.data());
}

// D²(j, k) becomes B(j, k) on P(:, j, k).
void SymmBlocking::broadcast_square() {
  const Index elements = inner_ * columns_;
  if (is_original()) {
    // P(i, k, k) has D²(i, k), and P(k, i, k) needs it.
    mpi::Request received;
    const int tag = tags_.first();
    const bool needs = me_.row == me_.layer;
    const bool is_there = me_.row == me_.layer && me_.column == me_.layer;
    if (is_there && elements > 0) std::memcpy(b_.data(), d2_.data(), bytes(b_.data(), elements).size());
    if (needs && !is_there && elements > 0) {
      received = mpi::start_receive(context_->comm(), bytes(b_.data(), elements),
                                    mesh().rank(me_.column, me_.layer, me_.layer), tag);
    }
    if (me_.column == me_.layer && !is_there && rows_ * columns_ > 0) {
      const int to = mesh().rank(me_.layer, me_.row, me_.layer);
      mpi::start_send(context_->comm(), bytes(d2_.data(), rows_ * columns_), to, tag).wait();
    }
    received.wait();
    mpi::blocking_broadcast(*along_i_, bytes(b_.data(), elements), products_->element_bytes, me_.layer);
    return;
  }
  if (me_.row == me_.column && elements > 0) std::memcpy(b_.data(), d2_.data(), bytes(b_.data(), elements).size());
  mpi::blocking_broadcast(*along_i_, bytes(b_.data(), elements), products_->element_bytes, me_.column);
}

void SymmBlocking::run(const SymmOperands& operands, Powers powers) {
  if (!takes_part_) return;
  const Reducer of_column = [](int, int k) { return k; };
  const Reducer of_row = [](int i, int) { return i; };
  square(operands);
  if (is_original()) send_home(of_column, d2_.data(), operands.d2);
  if (powers == Powers::square_and_cube) {
    broadcast_square();
    multiply(false);
    reduce(me_.layer, d3_.data());
  }
  if (!is_original()) send_home(of_row, d2_.data(), operands.d2);
  if (powers == Powers::square_and_cube) send_home(of_column, d3_.data(), operands.d3);
}

}  // namespace plait::dense
