#include "bench/partition/peers.hpp"

#include <array>
#include <cstdio>
#include <stdexcept>

#ifdef PLAIT_HAS_METIS
#include <metis.h>
#endif
#ifdef PLAIT_HAS_SCOTCH
#include <scotch.h>
#endif

#include "plait/base/index.hpp"

namespace plait::bench {

#ifdef PLAIT_HAS_METIS

std::optional<Contender> metis(const std::shared_ptr<PartitionProblem>& problem) {
  const auto& graph = problem->graph;
  return Contender{
      "METIS", [problem, offsets = std::vector<idx_t>(graph.offsets.begin(), graph.offsets.end()),
                neighbours = std::vector<idx_t>(graph.neighbours.begin(), graph.neighbours.end()),
                part = std::vector<idx_t>(at(graph.view().vertices()))]() mutable {
        std::array<idx_t, METIS_NOPTIONS> options{};
        METIS_SetDefaultOptions(options.data());
        options[METIS_OPTION_UFACTOR] = static_cast<idx_t>(problem->imbalance * 1000);
        auto vertices = static_cast<idx_t>(part.size());
        idx_t constraints = 1;
        idx_t parts = problem->parts;
        idx_t cut = 0;
        if (METIS_PartGraphKway(&vertices, &constraints, offsets.data(), neighbours.data(), nullptr, nullptr, nullptr,
                                &parts, nullptr, nullptr, options.data(), &cut, part.data()) != METIS_OK) {
          throw std::runtime_error("METIS failed");
        }
        problem->part.assign(part.begin(), part.end());
      }};
}

#else

std::optional<Contender> metis(const std::shared_ptr<PartitionProblem>& /*problem*/) { return {}; }

#endif

#ifdef PLAIT_HAS_SCOTCH

std::optional<Contender> scotch(const std::shared_ptr<PartitionProblem>& problem) {
  const auto& graph = problem->graph;
  return Contender{"Scotch", [problem, offsets = std::vector<SCOTCH_Num>(graph.offsets.begin(), graph.offsets.end()),
                              neighbours = std::vector<SCOTCH_Num>(graph.neighbours.begin(), graph.neighbours.end()),
                              part = std::vector<SCOTCH_Num>(at(graph.view().vertices()))]() mutable {
                     const auto vertices = static_cast<SCOTCH_Num>(part.size());
                     SCOTCH_Graph cut{};
                     SCOTCH_Strat strategy{};
                     SCOTCH_graphInit(&cut);
                     SCOTCH_stratInit(&strategy);
                     SCOTCH_stratGraphMapBuild(&strategy, SCOTCH_STRATDEFAULT, problem->parts, problem->imbalance);
                     const bool is_good = SCOTCH_graphBuild(&cut, 0, vertices, offsets.data(), nullptr, nullptr,
                                                            nullptr, static_cast<SCOTCH_Num>(neighbours.size()),
                                                            neighbours.data(), nullptr) == 0 &&
                                          SCOTCH_graphPart(&cut, problem->parts, &strategy, part.data()) == 0;
                     SCOTCH_stratExit(&strategy);
                     SCOTCH_graphExit(&cut);
                     if (!is_good) throw std::runtime_error("Scotch failed");
                     problem->part.assign(part.begin(), part.end());
                   }};
}

#else

std::optional<Contender> scotch(const std::shared_ptr<PartitionProblem>& /*problem*/) { return {}; }

#endif

}  // namespace plait::bench
