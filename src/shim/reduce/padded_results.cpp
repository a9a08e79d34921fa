#include "shim/reduce/padded_results.hpp"

#include <cstring>
#include <new>
#include <utility>

#include "plait/base/error.hpp"
#include "plait/simd/reduce/reduce_element.hpp"

namespace plait::shim::reduce {

namespace {

using Running = collective::node::PostedReductions::Running;
using Progress = collective::node::PostedReductions::Progress;

class LandingRunning final : public Running {
 public:
  LandingRunning(std::unique_ptr<Running> running, Landing results)
      : running_(std::move(running)), results_(std::move(results)) {}

  [[nodiscard]] Progress advance() override {
    const Progress progress = running_->advance();
    if (progress == Progress::done) results_.deliver();
    return progress;
  }

 private:
  std::unique_ptr<Running> running_;
  Landing results_;
};

}  // namespace

void copy_without_padding(simd::Element pair, Index n, const void* from, void* to) noexcept {
  simd::with_type_of(pair, [&]<class T>() {
    if constexpr (simd::is_pair<T>) {
      const auto* source = static_cast<const std::byte*>(from);
      auto* target = static_cast<std::byte*>(to);
      for (Index i = 0; i < n; ++i, source += sizeof(T), target += sizeof(T)) {
        std::memcpy(target, source, sizeof(T::value));
        std::memcpy(target + offsetof(T, index), source + offsetof(T, index), sizeof(T::index));
      }
    }
  });
}

void Landing::take_memory() noexcept {
  memory_.reset(new (std::nothrow) std::byte[static_cast<std::size_t>(n_ * simd::size_in_bytes(*padded_))]);
  if (memory_ != nullptr) place_ = memory_.get();
}

void Landing::copy_to_out() const {
  if (memory_ == nullptr) throw OutOfMemory("too little memory to leave the padding of pairs alone");
  copy_without_padding(*padded_, n_, place_, out_);
}

std::unique_ptr<Running> landing(std::unique_ptr<Running> running, Landing results) {
  return std::make_unique<LandingRunning>(std::move(running), std::move(results));
}

}  // namespace plait::shim::reduce
