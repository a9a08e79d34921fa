#include "support/ranks.hpp"

#include <stdexcept>

#include "support/test_world.hpp"

namespace plait::test {
namespace {
const TestWorld* opened = nullptr;  // the tests are functions without arguments

const TestWorld& world() {
  if (opened == nullptr) throw std::logic_error("the ranks of a test are known from its main on, not before");
  return *opened;
}
}  // namespace

TestWorld::TestWorld() {
  MPI_Comm_dup(MPI_COMM_WORLD, &tests_);
  MPI_Comm_dup(MPI_COMM_WORLD, &verdicts_);
  MPI_Comm_rank(tests_, &rank_);
  MPI_Comm_size(tests_, &ranks_);
  opened = this;
}

TestWorld::~TestWorld() {
  opened = nullptr;
  MPI_Comm_free(&verdicts_);
  MPI_Comm_free(&tests_);
}

MPI_Comm test_comm() { return world().tests(); }
int rank() { return world().rank(); }
int ranks() { return world().ranks(); }

}  // namespace plait::test
