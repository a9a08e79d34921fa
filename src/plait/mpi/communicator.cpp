#include "plait/mpi/communicator.hpp"

#include <array>
#include <cstdint>
#include <string>

#include "plait/base/error.hpp"
#include "plait/base/index.hpp"
#include "plait/base/random.hpp"
#include "plait/base/vector.hpp"
#include "plait/mpi/collectives.hpp"
#include "plait/mpi/environment.hpp"
#include "plait/mpi/error.hpp"

namespace plait::mpi {

Communicator::Communicator(MPI_Comm comm, bool owned) : comm_(comm), owned_(owned) {
  if (owned) MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  check(MPI_Comm_rank(comm, &rank_), "MPI_Comm_rank");
  check(MPI_Comm_size(comm, &size_), "MPI_Comm_size");
}

Communicator Communicator::borrowed(MPI_Comm comm) { return {comm, false}; }

Communicator Communicator::duplicate(MPI_Comm comm) {
  MPI_Comm copy = MPI_COMM_NULL;
  check(MPI_Comm_dup(comm, &copy), "MPI_Comm_dup");
  return {copy, true};
}

Communicator Communicator::split(int color, int key) const {
  MPI_Comm part = MPI_COMM_NULL;
  check(MPI_Comm_split(comm_, color, key, &part), "MPI_Comm_split");
  return {part, true};
}

Communicator Communicator::permuted(std::span<const int> rank_of) const {
  Vector<int> place;
  with_memory_on_all_ranks(*this, [&] { place.resize(size_, -1); });
  bool is_permutation = rank_of.size() == place.size();
  std::uint64_t fingerprint = 0;
  for (std::size_t i = 0; i < rank_of.size() && is_permutation; ++i) {
    const int old = rank_of[i];
    is_permutation = old >= 0 && old < size_ && place[old] < 0;
    if (is_permutation) place[old] = static_cast<int>(i);
    fingerprint = random_bits(fingerprint, static_cast<std::uint64_t>(old));
  }
  const auto mine = static_cast<Index>(fingerprint >> 1);
  std::array<Index, 3> least{is_permutation ? 1 : 0, mine, -mine};
  all_reduce(*this, least, Operation::minimum());
  if (least[0] == 0 || least[1] != -least[2]) {
    throw ArgumentError("rank_of: expected each of the " + std::to_string(size_) +
                        " ranks once, in the same order on all of them");
  }
  return split(0, place[rank_]);
}

Communicator Communicator::subset(std::span<const int> ranks, int tag) const {
  MPI_Group all = MPI_GROUP_NULL;
  MPI_Group some = MPI_GROUP_NULL;
  MPI_Comm part = MPI_COMM_NULL;
  check(MPI_Comm_group(comm_, &all), "MPI_Comm_group");
  int code = MPI_Group_incl(all, static_cast<int>(ranks.size()), ranks.data(), &some);
  MPI_Group_free(&all);
  check(code, "MPI_Group_incl");
  code = MPI_Comm_create_group(comm_, some, tag, &part);
  MPI_Group_free(&some);
  check(code, "MPI_Comm_create_group");
  return {part, true};
}

Communicator Communicator::split_by_node() const {
  MPI_Comm part = MPI_COMM_NULL;
  check(MPI_Comm_split_type(comm_, MPI_COMM_TYPE_SHARED, rank_, MPI_INFO_NULL, &part), "MPI_Comm_split_type");
  return {part, true};
}

Communicator& Communicator::operator=(Communicator&& other) noexcept {
  std::swap(comm_, other.comm_);
  std::swap(owned_, other.owned_);
  std::swap(rank_, other.rank_);
  std::swap(size_, other.size_);
  return *this;
}

Communicator::~Communicator() {
  if (owned_ && comm_ != MPI_COMM_NULL && !is_finalized()) MPI_Comm_free(&comm_);
}

int Communicator::highest_tag() const {
  void* value = nullptr;
  int found = 0;
  check(MPI_Comm_get_attr(comm_, MPI_TAG_UB, static_cast<void*>(&value), &found), "MPI_Comm_get_attr");
  return found != 0 ? *static_cast<int*>(value) : 32767;
}

}  // namespace plait::mpi
