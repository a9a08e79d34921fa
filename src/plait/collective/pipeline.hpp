#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "plait/collective/algorithm/hierarchical.hpp"
#include "plait/collective/group.hpp"
#include "plait/collective/mpi_strands.hpp"
#include "plait/collective/stream.hpp"
#include "plait/model/choice.hpp"
#include "plait/model/strands.hpp"
#include "plait/mpi/alike.hpp"
#include "plait/mpi/context.hpp"
#include "plait/schedule/combine.hpp"
#include "plait/schedule/schedule.hpp"

namespace plait::collective {

using schedule::Combine;

/// Who carries the collectives of a pipeline out.
enum class Backend : unsigned char {
  plait,  ///< messages from rank to rank, on a schedule
  mpi,    ///< the MPI library's non-blocking collectives, each strand on a communicator of its own: see `MpiStrands`
};

/// Through what the ranks of a node reach each other in an allreduce that goes by nodes.
enum class WithinNodes : unsigned char {
  shared_memory,  ///< which is taken when the schedule is made; messages where a node has too little of it
  messages,       ///< so that a schedule is made without waiting for other ranks
};

/// What is empty is chosen, alike on all ranks, by the description of the machine that the context has; so are the
/// algorithms of plait's own.
struct PipelineOptions {
  Backend backend = Backend::plait;
  std::optional<int> strands = {};
  std::optional<Index> segment_bytes = {};  ///< of what one message carries at most; a strand of MPI's is one segment
  WithinNodes within_nodes = WithinNodes::shared_memory;
};

/// Operations on one vector of each rank, one after the other, that overlap: what one has finished of the vector, the
/// next takes at once.
///
///     Pipeline y(context, elements, sizeof(double));
///     y.reduce(row, root, sum).broadcast(column, root).compute(f);
///     Schedule schedule = y.schedule("matrix-vector");
///     schedule.start({{Binding::output(bytes)}}), schedule.wait();
///
/// The vector is changed in place. All ranks of the context name the same operations in the same order, each with the
/// group that it is in; what a rank's vector holds after a reduction to another rank is what it held before.
///
/// A reduction among all ranks of the context that is followed by a broadcast from its root to all of them is an
/// allreduce, and plait does it so. For smaller groups say `allreduce`.
///
/// Source: Huang, Chow: "Overlapping communications with other communications …", section III.A.
class Pipeline {
 public:
  /// Without communication.
  /// \throws ArgumentError  elements < 0 or more than can be addressed, element_bytes < 1, or an option below 1
  Pipeline(mpi::Context& context, Index elements, Index element_bytes, PipelineOptions options = {});

  /// \param root  its index in the group
  /// \throws ArgumentError  as `reduce_chain` does; with MPI's collectives also a `combine` that is none of MPI's
  Pipeline& reduce(Group group, int root, const Combine& combine);
  Pipeline& broadcast(Group group, int root);
  Pipeline& allreduce(Group group, const Combine& combine);
  /// Calls f(elements, number of the first one) on this rank for each segment that is final, while others are still on
  /// their way; f may change them.
  Pipeline& compute(std::function<void(std::span<std::byte> elements, Index first)> f);

  /// To be started with one binding, the vector: an output. Collective over the context: ranks wait for each other, but
  /// for those of `WithinNodes::messages` by plait's own messages, which then do not agree on anything.
  /// \throws ArgumentError  on all ranks, where elements, options or steps differ between them, naming both values; the
  ///                        ranks of groups may
  /// \throws OutOfMemory    on all ranks, where one has too little
  [[nodiscard]] schedule::Schedule schedule(std::string label, schedule::Windows windows = {}) const;

 private:
  struct Reduce {
    using Algorithm = model::ReduceAlgorithm;
    Group group;
    int root;
    Combine combine;
    Algorithm algorithm = {};  ///< chosen when a schedule is made
  };
  struct Broadcast {
    using Algorithm = model::BroadcastAlgorithm;
    Group group;
    int root;
    Algorithm algorithm = {};
  };
  struct Allreduce {
    using Algorithm = model::AllreduceAlgorithm;
    Group group;
    Combine combine;
    Algorithm algorithm = {};
  };
  struct Compute {
    std::function<void(std::span<std::byte>, Index)> f;
  };
  using Step = std::variant<Reduce, Broadcast, Allreduce, Compute>;

  void expect_suitable(const Combine& combine) const;
  void name_arguments(mpi::Alike& arguments) const;
  [[nodiscard]] std::vector<Step> merged() const;
  // What is empty is not decided yet.
  struct Cut {
    std::optional<int> strands;
    std::optional<Index> message_bytes;
  };

  [[nodiscard]] model::Placement placement_of(const Group& group) const;
  template <class Communication>
  [[nodiscard]] auto wishes_for(const Communication& step, const Cut& cut) const;
  template <class Communication>
  [[nodiscard]] auto choice_for(const Communication& step, const Cut& cut) const;
  template <class Communication>
  [[nodiscard]] model::PieceCost piece_of(const Communication& step, Index message_bytes) const;
  [[nodiscard]] Cut choose_algorithms(std::vector<Step>& steps) const;
  [[nodiscard]] static Index segment_bytes(const std::vector<Step>& steps, const Cut& cut);
  [[nodiscard]] bool may_share_memory(const Step& step) const;
  [[nodiscard]] bool shares_memory(const Step& step) const;
  [[nodiscard]] Stream append(Graph& graph, const Step& step, const Stream& stream, Place data,
                              const GroupWay& way) const;
  [[nodiscard]] static Stream append_mpi(Graph& graph, const Step& step, const Stream& stream, Place data,
                                         const MpiStrands& strands);

  mpi::Context* context_;
  Index elements_;
  Index element_bytes_;
  PipelineOptions options_;
  std::vector<Step> steps_;
};

}  // namespace plait::collective
