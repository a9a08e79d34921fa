#include <cmath>
#include <numbers>
#include <numeric>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "plait/base/error.hpp"
#include "plait/purify/filling.hpp"

namespace plait::purify {
namespace {

using testing::HasSubstr;

constexpr Smearing smearings[] = {Smearing::fermi_dirac, Smearing::gaussian, Smearing::methfessel_paxton};

/// A metal: levels of a chain with all degeneracies that it has.
std::vector<double> chain(int sites) {
  std::vector<double> energies;
  for (int k = 0; k < sites; ++k) energies.push_back(-2 * std::cos(2 * std::numbers::pi * k / sites));
  std::sort(energies.begin(), energies.end());
  return energies;
}

double formula(Smearing smearing, double x) {
  const double pi = std::numbers::pi;
  switch (smearing) {
    case Smearing::fermi_dirac: return 1 / (1 + std::exp(x));
    case Smearing::gaussian: return 0.5 * std::erfc(x);
    default: return 0.5 * std::erfc(x) - 2 * x * std::exp(-x * x) / (4 * std::sqrt(pi));
  }
}

double sum(const std::vector<double>& values) { return std::accumulate(values.begin(), values.end(), 0.0); }

double free_energy(const std::vector<double>& energies, double filled, Smearing smearing, double width) {
  const Occupations found = occupy(energies, filled, smearing, width);
  return std::inner_product(energies.begin(), energies.end(), found.of_states.begin(), 0.0) - width * found.entropy;
}

TEST(Smearing, FillsStatesByItsFormulaWithAsManyElectronsAsThereAre) {
  for (const Smearing smearing : smearings) {
    for (const int sites : {1, 2, 7, 400}) {
      const auto energies = chain(sites);
      for (const double filled : {0.5, 0.25 * sites, 0.5 * sites, sites - 0.5}) {
        for (const double width : {1e-3, 0.1, 10.0}) {
          const Occupations found = occupy(energies, filled, smearing, width);
          EXPECT_NEAR(sum(found.of_states), filled, 1e-12 * sites) << name(smearing) << " " << sites << " " << width;
          for (std::size_t k = 0; k < energies.size(); ++k) {
            const double x = (energies[k] - found.chemical_potential) / width;
            EXPECT_NEAR(found.of_states[k], formula(smearing, x), 1e-9) << name(smearing) << " " << sites;
          }
        }
      }
    }
  }
}

TEST(Smearing, HasTheEntropyThatMakesTheChemicalPotentialTheSlopeOfTheFreeEnergy) {
  const auto energies = chain(50);
  for (const Smearing smearing : smearings) {
    for (const double width : {0.05, 0.3}) {
      const double step = 1e-4;
      const double slope =
          (free_energy(energies, 17.3 + step, smearing, width) - free_energy(energies, 17.3 - step, smearing, width)) /
          (2 * step);
      EXPECT_NEAR(slope, occupy(energies, 17.3, smearing, width).chemical_potential, 1e-5) << name(smearing);
    }
  }
}

TEST(Smearing, HasTheEntropyOfMixingWithFermiAndDirac) {
  const Occupations found = occupy(chain(30), 11, Smearing::fermi_dirac, 0.4);
  double entropy = 0;
  for (const double f : found.of_states) entropy -= f * std::log(f) + (1 - f) * std::log(1 - f);
  EXPECT_NEAR(found.entropy, entropy, 1e-12);
}

TEST(Smearing, SharesADegenerateLevelHoweverNarrowItIs) {
  const std::vector<double> energies{-1, 0.5, 0.5, 0.5, 2};
  for (const Smearing smearing : smearings) {
    for (const double width : {1e-300, 1e-12, 1e-3}) {
      const Occupations found = occupy(energies, 3, smearing, width);
      for (const std::size_t k : {1U, 2U, 3U}) EXPECT_NEAR(found.of_states[k], 2.0 / 3, 1e-12) << name(smearing);
      EXPECT_NEAR(found.of_states[0], 1, 1e-12);
      EXPECT_NEAR(found.of_states[4], 0, 1e-12);
    }
  }
}

TEST(Smearing, PutsTheChemicalPotentialIntoTheMiddleOfAGap) {
  const std::vector<double> energies{-3, -2, 1, 4};
  for (const Smearing smearing : {Smearing::none, Smearing::fermi_dirac, Smearing::gaussian}) {
    const Occupations found = occupy(energies, 2, smearing, 1e-3);
    EXPECT_NEAR(found.chemical_potential, -0.5, 1e-5) << name(smearing);
    EXPECT_THAT(found.of_states, testing::ElementsAre(1, 1, testing::Lt(1e-12), testing::Lt(1e-12)));
    EXPECT_NEAR(found.entropy, 0, 1e-12);
  }
}

TEST(Smearing, FillsNoneOrAllOfTheStates) {
  for (const Smearing smearing : {Smearing::none, Smearing::fermi_dirac, Smearing::methfessel_paxton}) {
    EXPECT_EQ(sum(occupy({-1, 2}, 0, smearing, 0.1).of_states), 0);
    EXPECT_EQ(sum(occupy({-1, 2}, 2, smearing, 0.1).of_states), 2);
    EXPECT_TRUE(occupy({}, 0, smearing, 0.1).of_states.empty());
  }
}

TEST(Smearing, RefusesAWidthThatIsNone) {
  for (const double width : {0.0, -1.0, std::nan("")}) {
    try {
      static_cast<void>(occupy({-1, 2}, 1, Smearing::gaussian, width));
      ADD_FAILURE() << width;
    } catch (const ArgumentError& error) {
      EXPECT_THAT(error.what(), HasSubstr("expected a positive energy"));
    }
  }
}

}  // namespace
}  // namespace plait::purify
