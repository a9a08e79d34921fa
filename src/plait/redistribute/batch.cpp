#include "plait/redistribute/batch.hpp"

#include <utility>

#include "plait/base/error.hpp"
#include "plait/redistribute/plan.hpp"

namespace plait::redistribute {

Batch::Batch(mpi::Context& context, std::vector<MatrixPair> pairs, Options options)
    : plan_(Plan::agreed(context, [&] { return std::move(pairs); }, std::move(options))) {}
Batch::Batch(Batch&&) noexcept = default;
Batch& Batch::operator=(Batch&&) noexcept = default;
Batch::~Batch() = default;

void Batch::start(std::span<const Operands> operands) { plan_->start(operands); }
bool Batch::progress() { return plan_->progress(); }
void Batch::wait() { plan_->wait(); }

std::span<const MatrixPair> Batch::pairs() const noexcept { return plan_->pairs(); }

Volume Batch::volume(std::size_t pair) const {
  if (pair >= pairs().size()) {
    throw ArgumentError("pair: " + std::to_string(pair) + ", expected less than " + std::to_string(pairs().size()));
  }
  return plan_->volume(pair);
}

}  // namespace plait::redistribute
