#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "plait/base/index.hpp"
#include "plait/base/vector.hpp"
#include "plait/graph/graph.hpp"
#include "plait/mpi/agreed.hpp"
#include "plait/mpi/collectives.hpp"
#include "plait/mpi/node_copy.hpp"

/// Coarser graphs, made by several ranks: each sees the whole graph and makes a range of the coarser one.
namespace plait::partition {

/// The ranks that coarsen a graph together or, without a context, one alone, which needs no MPI.
class Ranks {
 public:
  Ranks() = default;
  explicit Ranks(mpi::Context& context) : context_(context.size() > 1 ? &context : nullptr) {}

  [[nodiscard]] int rank() const { return context_ == nullptr ? 0 : context_->rank(); }
  [[nodiscard]] int size() const { return context_ == nullptr ? 1 : context_->size(); }

  /// f(), which does not communicate, or what it threw on any rank. Collective, as all below.
  template <class F>
  auto agreed(F&& f) const {
    return context_ == nullptr ? f() : mpi::agreed(*context_, f);
  }
  [[nodiscard]] Index reduced(Index own, mpi::Operation operation) const {
    return context_ == nullptr ? own : mpi::all_reduce(context_->comm(), own, operation);
  }
  [[nodiscard]] Index sum_below(Index own) const {
    return context_ == nullptr ? 0 : mpi::sum_below(context_->comm(), own);
  }
  /// What is in `to[r]` goes to rank r, and comes there in the order of the ranks that sent it.
  template <class T>
  [[nodiscard]] std::vector<T> exchanged(std::vector<std::vector<T>> to) const {
    if (context_ == nullptr) return std::move(to[0]);
    std::vector<Index> counts;
    const auto all = agreed([&] {
      std::vector<T> joined;
      for (const auto& one : to) {
        joined.insert(joined.end(), one.begin(), one.end());
        counts.push_back(static_cast<Index>(one.size()));
      }
      return joined;
    });
    return mpi::all_to_all(context_->comm(), std::span<const T>(all), counts);
  }

  /// The elements of all ranks, one rank's behind the other's, in memory once a node.
  template <class T>
  class All {
   public:
    All() = default;
    All(const Ranks& ranks, Vector<T>&& own) : own_(std::move(own)), all_(own_) {
      if (ranks.context_ == nullptr) return;
      copy_.emplace(*ranks.context_, std::vector{std::as_bytes(all_)});
      all_ = copy_->piece<T>(0);
      own_ = {};
    }
    [[nodiscard]] std::span<const T> span() const noexcept { return all_; }

   private:
    Vector<T> own_;
    std::optional<mpi::NodeCopy> copy_;
    std::span<const T> all_;
  };

 private:
  mpi::Context* context_ = nullptr;
};

/// Which vertices are one in the coarser graph.
struct Merging {
  Ranks::All<graph::Vertex> vertex_of;  // of each vertex
  graph::Vertex vertices = 0;
  std::pair<graph::Vertex, graph::Vertex> own;  // those that this rank makes: [first, second)
};

/// Merges mates. A vertex has one at most: neighbours along heavy edges between light vertices, by the rating
/// weight² / (weight of v · weight of u), and among equals by the lower number. No vertex could have a better mate that
/// would prefer it, too, so that the order in which vertices are looked at does not matter, nor do the ranks. Where
/// many stay alone, such with the same heaviest neighbour, or with no neighbours at all, become mates as well.
/// Collective.
///
/// \param most_weight  of two mates together
/// \param labels       if there are any, mates have the same
/// Source: Preis, "Linear time 1/2-approximation algorithm for maximum weighted matching in general graphs", 1999,
/// which the ranks do in rounds as Manne, Bisseling, "A parallel approximation algorithm for the weighted maximum
/// matching problem", 2007; the rating: Holtgrewe, Sanders, Schulz, "Engineering a scalable high quality graph
/// partitioner", IPDPS 2010.
[[nodiscard]] Merging merged_mates(const Ranks& ranks, const graph::GraphView& graph, Index most_weight,
                                   std::span<const int> labels = {});

/// A graph in which mates are one vertex. Weights add up; where there are no mates, none stay none.
class Coarse {
 public:
  /// Collective.
  Coarse(const Ranks& ranks, const graph::GraphView& graph, const Merging& merging);

  [[nodiscard]] graph::GraphView view() const noexcept;

 private:
  Ranks::All<Index> offsets_;
  Ranks::All<graph::Vertex> neighbours_;
  Ranks::All<std::uint16_t> narrow_edge_weights_;  // where all fit; else empty
  Ranks::All<Index> wide_edge_weights_;
  Ranks::All<Index> vertex_weights_;
};

}  // namespace plait::partition
