#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "plait/base/index.hpp"
#include "plait/base/memory.hpp"
#include "plait/layout/box.hpp"
#include "plait/mpi/context.hpp"
#include "plait/mpi/node/shared_pool.hpp"
#include "plait/schedule/schedule.hpp"

namespace plait::halo {

/// Which ghost layers are filled: those beyond one face of a box, or also those beyond its edges and corners.
enum class Reach : unsigned char {
  faces,
  corners,
  corners_by_axes,  ///< in place, by as many messages as faces take, in turns: each axis takes along the layers before
};

/// What comes from where. A field lies in memory as its rank's box of a partition with ghost layers around it, the last
/// axis contiguous; a rank with an empty box has no memory at all. Ghost layers beyond the sides of the whole box are
/// filled across periodic sides only, else left as they are. They may be wider than boxes, and go round several times.
struct Filling {
  layout::BoxPartition from;    ///< who has the points
  layout::BoxPartition to;      ///< who gets them
  layout::Point from_layers{};  ///< around the boxes of the source
  layout::Point to_layers{};    ///< around the boxes of the target
  layout::Point width{};        ///< the layers of the target that are filled
  std::array<bool, layout::axes> periodic{};
  Reach reach = Reach::corners;
  bool in_place = false;  ///< source and target are one field, so that a rank has its own points already

  /// The ghost layers of fields on one partition, each as many layers as there are.
  [[nodiscard]] static Filling ghosts(const layout::BoxPartition& partition, const layout::Point& layers,
                                      std::array<bool, layout::axes> periodic = {}, Reach reach = Reach::corners) {
    return {partition, partition, layers, layers, layers, periodic, reach, true};
  }
};

/// A field before and after; the same where it is filled in place.
struct Field {
  const void* source;
  void* target;
};

/// Fills ghost layers, or moves fields from one partition of a box to another, any number of times:
///
///     Exchange ghosts(context, Filling::ghosts(partition, {1, 1, 1}), sizeof(double));
///     ghosts.begin(u);
///     compute(interior of u);     // reads no ghost layer, and writes no point next to one
///     ghosts.finish();
///     compute(rest of u);
///
/// All that one rank has for another, of all fields, is one message; within a node it goes through memory that the
/// ranks share, where there is enough. The bytes received are those of the points filled that other ranks own; where
/// they come by axes, of those that lie beyond a face on the last axis on which they lie beyond one.
///
/// Collective over the context: making, `begin` and `finish`, in the same order on all ranks.
class Exchange {
 public:
  /// \throws ArgumentError  on all ranks: partitions of other boxes or of another number of ranks, widths below 0 or
  ///                        above the layers that there are, corners by axes of another field, element_bytes < 1,
  ///                        fields < 1; or ranks that differ
  /// \throws OutOfMemory    on all ranks, where one has too little
  Exchange(mpi::Context& context, const Filling& filling, Index element_bytes, int fields = 1,
           std::string label = "halo");
  Exchange(const Exchange&) = delete;
  Exchange& operator=(const Exchange&) = delete;

  /// Returns when all that others get from this rank's fields is on its way, but what comes with later axes: they get
  /// it even if this rank then blocks elsewhere instead of moving the exchange along.
  ///
  /// \pre  not under way; as many fields as it was made for
  void begin(std::span<const Field> fields);
  template <class T>
    requires(!std::is_const_v<T>)
  void begin(T* field) {
    const Field one{field, field};
    begin(std::span(&one, 1));
  }
  /// Moves it along; true when it is over on this rank. Never waits.
  bool progress() { return schedule_->progress(); }
  /// Returns when the layers of this rank are filled and what others get from it is read from its fields.
  void finish() { schedule_->wait(); }

  template <class T>
    requires(!std::is_const_v<T>)
  void operator()(T* field) {
    begin(field);
    finish();
  }
  void operator()(std::span<const Field> fields) {
    begin(fields);
    finish();
  }

 private:
  // Points that are a box both in the source and in the target.
  struct Region {
    Index source = 0;  // of its first point, in bytes; where this rank has it
    Index target = 0;
    layout::Point extent{};
  };
  struct Package {
    int peer = -1;
    Index turn = 0;  // packages of a turn are packed when those before are unpacked
    std::vector<Region> regions{};
    Index bytes = 0;              // of all fields
    Index offset = 0;             // in buffer_
    std::byte* shared = nullptr;  // or where ranks of a node pass it on
    bool is_answered = false;     // there by turns in two slots, as the peer has a package for this rank, too
  };
  struct Strides {
    Index plane, row;  // in bytes
  };

  void plan(const Filling& filling);
  void find_regions(const Filling& filling);
  using Runs = std::array<std::vector<layout::AxisRun>, layout::axes>;
  template <class IsWanted>
  void add_regions(const Filling& filling, const Runs& runs, Index turn, const IsWanted& is_wanted);
  void add(std::vector<Package>& packages, int peer, Index turn, const Region& region);
  void share_memory();
  void build();
  void pack(const Package& package, Index step, std::byte* message);
  void unpack(const Package& package, Index step, const std::byte* message) const;
  [[nodiscard]] Index steps(const Package& package) const;
  [[nodiscard]] static Index shared_bytes(const Package& package);
  [[nodiscard]] std::byte* shared_slot(const Package& package) const;
  [[nodiscard]] schedule::NodeFlags flags_of(int rank) const;

  mpi::Context& context_;
  const Index element_bytes_;
  const int fields_;
  const std::string label_;
  Strides source_strides_{}, target_strides_{};
  std::vector<Package> outgoing_, incoming_, own_;  // one a peer
  Buffer buffer_;
  std::optional<mpi::SharedPool::Lease> shared_;  // of each rank: flags, where packages begin, packages
  bool is_second_slot_ = false;
  Index packs_left_ = 0;  // steps of the first turn
  std::vector<Field> bound_;
  std::optional<schedule::Schedule> schedule_;  // last, so that a run under way ends while the rest is there
};

/// This rank's box of a field that lies in the boxes of another partition, without ghost layers. Collective.
/// \throws ArgumentError, OutOfMemory  as above
[[nodiscard]] std::vector<double> moved(mpi::Context& context, const layout::BoxPartition& from,
                                        std::span<const double> values, const layout::BoxPartition& to);

}  // namespace plait::halo
