#include "plait/redistribute/redistribution.hpp"

#include <utility>

#include "plait/redistribute/plan.hpp"

namespace plait::redistribute {

Redistribution::Redistribution(mpi::Context& context, layout::Layout from, layout::Layout to, Op op, Options options)
    : plan_(Plan::agreed(
          context, [&] { return std::vector<MatrixPair>{{std::move(from), std::move(to), op}}; }, std::move(options))) {
}
Redistribution::Redistribution(Redistribution&&) noexcept = default;
Redistribution& Redistribution::operator=(Redistribution&&) noexcept = default;
Redistribution::~Redistribution() = default;

void Redistribution::start(const Operands* operands, const std::exception_ptr& failure) {
  plan_->start(operands == nullptr ? std::span<const Operands>() : std::span(operands, 1), failure);
}
bool Redistribution::progress() { return plan_->progress(); }
void Redistribution::wait() { plan_->wait(); }

const layout::Layout& Redistribution::from() const noexcept { return plan_->pairs()[0].from; }
const layout::Layout& Redistribution::to() const noexcept { return plan_->pairs()[0].to; }
Op Redistribution::op() const noexcept { return plan_->pairs()[0].op; }
Volume Redistribution::volume() const noexcept { return plan_->volume(0); }

}  // namespace plait::redistribute
