#pragma once

#include <vector>

#include "plait/base/index.hpp"
#include "plait/dense/arrangement/arrangement.hpp"
#include "plait/dense/panels.hpp"

namespace plait::dense {

/// How many stages the messages of a panel take to set out.
[[nodiscard]] Index stages_of_panel(const Arrangement& arrangement, const Cut& cut);

/// Stages, the first and the last, at which something of a panel is in staging memory.
struct HeldPanel {
  Index first, last;
  Index elements;
};

/// How many of them are held at a time, and one more, which arrives while the others are in use.
[[nodiscard]] Index blocks_for_panels(const std::vector<HeldPanel>& held);

/// In elements; 0 if there are none.
[[nodiscard]] Index longest_panel(const std::vector<HeldPanel>& held);

/// When a rank has SUMMA's panels in staging memory, and when it multiplies them.
struct SummaTimes {
  std::vector<Panel> panels;
  std::vector<Index> multiplied;  ///< the stage, for each panel
  std::vector<HeldPanel> a, b;    ///< of those that the rank does not have
};
[[nodiscard]] SummaTimes summa_times(const Arrangement& arrangement, const Cut& cut, const GridPlace& me);

}  // namespace plait::dense
