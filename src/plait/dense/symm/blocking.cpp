#include <cstddef>
#include <cstring>
#include <optional>
#include <span>

#include "plait/base/memory.hpp"
#include "plait/dense/symm/plan.hpp"
#include "plait/mpi/communicator.hpp"
#include "plait/mpi/message.hpp"
#include "plait/mpi/mpi_collectives.hpp"

namespace plait::dense::symm {

namespace {

/// Algorithms 3 and 4, phase by phase, each by the MPI library's blocking collectives.
class Blocking final : public Plan {
 public:
  /// Collective over the context.
  Blocking(mpi::Context& context, const Grid& mesh, const Products& products, const Options& options);

  void make(Powers powers) override;
  void prepare(Powers /*powers*/) override {}
  void run(const Operands& operands, Powers powers) override;
  [[nodiscard]] Index workspace_bytes() const noexcept override;

 private:
  void square(const Operands& operands);
  void broadcast_square();
  void multiply(Op op_b);
  void reduce(int root, std::byte* out);
  using Reducer = int (*)(int i, int k);  // at which j block (i, k) was reduced
  void send_home(Reducer reducer, const std::byte* block, std::byte* home);

  [[nodiscard]] bool is_original() const noexcept { return options().algorithm == Algorithm::original; }
  [[nodiscard]] std::span<std::byte> bytes(std::byte* data, Index elements) const {
    return {data, static_cast<std::size_t>(elements * products_->element_bytes())};
  }

  mpi::Context* context_;
  const Products* products_;
  layout::GridPlace me_;
  bool takes_part_;
  Index rows_ = 0, inner_ = 0, columns_ = 0;  // C is rows × columns, a sum of `inner` terms
  std::optional<mpi::Communicator> along_i_, along_j_, along_k_;
  mpi::Tags tags_;
  Buffer a_, b_, c_, d2_, d3_;
};

Blocking::Blocking(mpi::Context& context, const Grid& mesh, const Products& products, const Options& options)
    : Plan(mesh, options),
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

void Blocking::make(Powers powers) {
  if (!takes_part_) return;
  const auto need = [&](Buffer& buffer, Index elements) {
    if (buffer.size() < elements * products_->element_bytes()) buffer = Buffer(elements * products_->element_bytes());
  };
  need(a_, rows_ * inner_);
  need(b_, inner_ * columns_);
  need(c_, rows_ * columns_);
  need(d2_, rows_ * columns_);
  if (powers == Powers::square_and_cube) need(d3_, rows_ * columns_);
}

Index Blocking::workspace_bytes() const noexcept { return a_.size() + b_.size() + c_.size() + d2_.size() + d3_.size(); }

void Blocking::multiply(Op op_b) {
  const BlockProduct product{.op_b = op_b, .rows = rows_, .inner = inner_, .columns = columns_};
  product.multiply(*products_, a_.data(), b_.data(), c_.data(), 0, columns_);
}

void Blocking::reduce(int root, std::byte* out) {
  const auto c = bytes(c_.data(), rows_ * columns_);
  mpi::blocking_reduce(*along_j_, c, bytes(out, rows_ * columns_), products_->sum, root);
}

// Block (i, k) from P(i, reducer(i, k), k) to P(i, k, 0).
void Blocking::send_home(Reducer reducer, const std::byte* block, std::byte* home) {
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

void Blocking::square(const Operands& operands) {
  if (me_.layer == 0 && rows_ * inner_ > 0) std::memcpy(a_.data(), operands.d, bytes(a_.data(), rows_ * inner_).size());
  const auto broadcast = [&](const mpi::Communicator& comm, std::byte* data, Index elements, int root) {
    mpi::blocking_broadcast(comm, bytes(data, elements), products_->element_bytes(), root);
  };
  broadcast(*along_k_, a_.data(), rows_ * inner_, 0);
  // D(k, j), whose conjugate transpose is B(j, k), from P(k, j, k).
  if (me_.row == me_.layer && rows_ * inner_ > 0)
    std::memcpy(b_.data(), a_.data(), bytes(a_.data(), rows_ * inner_).size());
  broadcast(*along_i_, b_.data(), columns_ * inner_, me_.layer);
  multiply(Op::conjugate_transpose);
  reduce(is_original() ? me_.layer : me_.row, d2_.data());
}

// D²(j, k) becomes B(j, k) on P(:, j, k).
void Blocking::broadcast_square() {
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
    mpi::blocking_broadcast(*along_i_, bytes(b_.data(), elements), products_->element_bytes(), me_.layer);
    return;
  }
  if (me_.row == me_.column && elements > 0) std::memcpy(b_.data(), d2_.data(), bytes(b_.data(), elements).size());
  mpi::blocking_broadcast(*along_i_, bytes(b_.data(), elements), products_->element_bytes(), me_.column);
}

void Blocking::run(const Operands& operands, Powers powers) {
  if (!takes_part_) return;
  const Reducer of_column = [](int, int k) { return k; };
  const Reducer of_row = [](int i, int) { return i; };
  square(operands);
  if (is_original()) send_home(of_column, d2_.data(), operands.d2);
  if (powers == Powers::square_and_cube) {
    broadcast_square();
    multiply(Op::identity);
    reduce(me_.layer, d3_.data());
  }
  if (!is_original()) send_home(of_row, d2_.data(), operands.d2);
  if (powers == Powers::square_and_cube) send_home(of_column, d3_.data(), operands.d3);
}

}  // namespace

std::unique_ptr<Plan> make_blocking(mpi::Context& context, const Grid& mesh, const Products& products,
                                    const Options& options) {
  return std::make_unique<Blocking>(context, mesh, products, options);
}

}  // namespace plait::dense::symm
