#pragma once

/// Density matrices of Hamiltonians.

#include "plait/purify/dense_products.hpp"
#include "plait/purify/eigenstates.hpp"
#include "plait/purify/filling.hpp"
#include "plait/purify/hamiltonian.hpp"
#include "plait/purify/method.hpp"
#include "plait/purify/orthogonal.hpp"
#include "plait/purify/points.hpp"
#include "plait/purify/purification.hpp"
#include "plait/purify/sequence.hpp"
#include "plait/purify/spectrum.hpp"
#include "plait/purify/ways.hpp"
