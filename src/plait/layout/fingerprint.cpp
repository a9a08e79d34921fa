#include "plait/layout/fingerprint.hpp"

#include "plait/base/random.hpp"

namespace plait::layout {

namespace {

class Mixer {
 public:
  void add(Index value) { state_ = random_bits(state_, static_cast<std::uint64_t>(value)); }
  [[nodiscard]] std::uint64_t result() const { return state_; }

 private:
  std::uint64_t state_ = 0;
};

void add(Mixer& mixer, const Axis& axis) {
  mixer.add(static_cast<Index>(axis.cutting()));
  mixer.add(axis.extent());
  mixer.add(axis.parts());
  mixer.add(axis.offset());
  if (axis.cutting() != Cutting::listed) {
    mixer.add(axis.original_extent());
    mixer.add(axis.block());
    mixer.add(axis.first_part());
    return;
  }
  for (Index part = 0; part < axis.parts(); ++part) mixer.add(axis.local_extent(part));
}

void add(Mixer& mixer, const Owners& owners) {
  mixer.add(owners.is_grid() ? 1 : 0);
  if (owners.is_grid()) {
    mixer.add(static_cast<Index>(owners.order()));
    mixer.add(owners.first_rank());
    return;
  }
  for (Index row = 0; row < owners.rows(); ++row) {
    for (Index column = 0; column < owners.columns(); ++column) mixer.add(owners.owner(row, column));
  }
}

}  // namespace

std::uint64_t fingerprint(const Layout& layout) {
  Mixer mixer;
  add(mixer, layout.rows());
  add(mixer, layout.columns());
  add(mixer, layout.owners());
  mixer.add(static_cast<Index>(layout.storage()));
  return mixer.result();
}

}  // namespace plait::layout
