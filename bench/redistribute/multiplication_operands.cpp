#include "bench/redistribute/multiplication_operands.hpp"

#include "plait/layout/layout.hpp"
#include "plait/redistribute/communication_volume.hpp"
#include "plait/redistribute/relabel/incoming.hpp"
#include "plait/redistribute/relabel/relabel.hpp"

namespace plait::bench {

namespace {

using layout::Layout;
using layout::Owners;
using redistribute::SizedPair;

constexpr int ranks = 4;

SizedPair sized(const Layout& from, const Layout& to) {
  return {{from, to, redistribute::Op::identity}, sizeof(double)};
}

Index busiest(const std::vector<SizedPair>& pairs) {
  redistribute::Incoming incoming(pairs);
  return redistribute::communication_volume(incoming).largest_rank_bytes;
}

std::vector<redistribute::MatrixPair> pairs_of(const std::vector<Transfer>& transfers) {
  std::vector<redistribute::MatrixPair> result;
  for (const Transfer& transfer : transfers) result.push_back({transfer.from, transfer.to, transfer.op});
  return result;
}

}  // namespace

Multiplication tall_multiplication(Index rows, Index columns) {
  const std::vector<int> first_halves_even{0, 2, 1, 3};
  const Index block = rows / ranks * 9 / 10;
  const Layout stored = Layout::block_cyclic({rows, columns}, block, columns, Owners::grid(ranks, 1));
  const Layout halved = Layout::custom({0, rows / 4, rows / 2, rows / 4 * 3, rows}, {0, columns}, first_halves_even);
  const Layout computed = Layout::custom({0, columns / 2, columns}, {0, columns / 2, columns}, first_halves_even);
  const Layout wanted = Layout::block_cyclic({columns, columns}, 32, 32, Owners::grid(2, 2));
  return {{{"A", stored, halved}, {"B", stored, halved}}, {"C", computed, wanted}};
}

Multiplication Multiplication::relabeled() const {
  std::vector<SizedPair> pairs;
  for (const Transfer& transfer : there) pairs.push_back(sized(transfer.from, transfer.to));
  pairs.push_back(sized(back.to, back.from));  // as much is moved either way
  const std::vector<int> rank_of = redistribute::relabel(pairs, ranks).rank_of;
  Multiplication result = *this;
  for (Transfer& transfer : result.there) transfer.to = transfer.to.relabeled(rank_of);
  result.back.from = back.from.relabeled(rank_of);
  return result;
}

Index Multiplication::busiest_bytes() const {
  std::vector<SizedPair> pairs;
  for (const Transfer& transfer : there) pairs.push_back(sized(transfer.from, transfer.to));
  return busiest(pairs) + busiest({sized(back.from, back.to)});
}

MultiplicationOperands::MultiplicationOperands(mpi::Context& context, const Multiplication& moves)
    : back_(context, moves.back.from, moves.back.to, moves.back.op),
      plan_there_(context, pairs_of(moves.there)),
      plan_back_(context, moves.back.from, moves.back.to, moves.back.op) {
  for (const Transfer& transfer : moves.there) {
    there_.emplace_back(context, transfer.from, transfer.to, transfer.op);
  }
}

void MultiplicationOperands::rewrite() {
  for (MovedMatrix& matrix : there_) matrix.rewrite();
  back_.rewrite();
}

void MultiplicationOperands::move() {
  std::vector<redistribute::Operands> operands;
  for (const MovedMatrix& matrix : there_) operands.push_back(matrix.operands());
  plan_there_.execute(operands);
  back_.move_by(plan_back_);
}

Index MultiplicationOperands::wrong_elements() const {
  Index wrong = back_.wrong_elements();
  for (const MovedMatrix& matrix : there_) wrong += matrix.wrong_elements();
  return wrong;
}

}  // namespace plait::bench
