#pragma once

#include <vector>

#include "plait/base/index.hpp"
#include "plait/dense/arrangement/arrangement.hpp"
#include "plait/model/machine.hpp"
#include "plait/model/placement.hpp"

namespace plait::dense {

/// What travels at a time: alike on all ranks.
struct Cut {
  Index panel_terms = 256;  ///< SUMMA: so many columns of A and rows of B at most
  Index a_segment = 0;      ///< elements of a message at most, of A's panels, of B's, of what layers add up; 0: whole
  Index b_segment = 0;
  Index c_segment = 0;
};

/// Terms that SUMMA deals with at a time, which one rank of each row has of A, and one of each column of B.
struct Panel {
  Index terms = 0;
  int a_part = 0;
  int b_part = 0;
  Index a_begin = 0;  ///< the first of them among those that the owner of A has, in place in the order of `a_order`
  Index b_begin = 0;
};

/// All of a layer's terms, cut where the owner of A or of B changes, and into panels of at most `longest` terms. The
/// owners take turns, so that all links are busy all the time. In place, what two owners have in common is taken
/// together, wherever in the matrices it lies, so that narrow blocks make wide panels.
[[nodiscard]] std::vector<Panel> panels(const Arrangement& arrangement, int layer, Index longest);

/// Neighbours among the terms that a part holds.
struct Stretch {
  Index begin = 0;
  Index length = 0;
  friend bool operator==(const Stretch&, const Stretch&) = default;
};

/// How the terms of A's tiles (of B's) follow each other for an arrangement in place, so that each panel's lie side by
/// side: first those that belong to part 0 of B (of A), then to part 1... Empty if they lie so.
[[nodiscard]] std::vector<Stretch> a_order(const Arrangement& arrangement, int part);
[[nodiscard]] std::vector<Stretch> b_order(const Arrangement& arrangement, int part);

/// Panels and segments for this machine: those that the model finds best for chains.
/// \param panel_terms  at most; 0: as many as the local products like
[[nodiscard]] Cut chosen_cut(const Arrangement& arrangement, const model::Machine& machine,
                             const model::Placement& placement, Index element_bytes, Index panel_terms);

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

/// Elements of the tiles that a role computes with. C's is of what its layer computes; after the layers have added
/// theirs up, the columns `Arrangement::final_columns` of it are what the layout of C says.
struct TileElements {
  Index a = 0;
  Index b = 0;
  Index c = 0;
};
[[nodiscard]] TileElements tile_elements(const Arrangement& arrangement, int role);
/// No role has more.
[[nodiscard]] TileElements most_tile_elements(const Arrangement& arrangement);

/// What the busiest role's graph takes of staging memory, in elements: panels, or parts, that are on their way.
[[nodiscard]] Index most_staged_elements(const Arrangement& arrangement, const Cut& cut);

}  // namespace plait::dense
