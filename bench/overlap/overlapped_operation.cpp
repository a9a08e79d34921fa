#include "bench/overlap/overlapped_operation.hpp"

namespace plait::bench {

const char* name(Operation operation) noexcept {
  switch (operation) {
    case Operation::point_to_point: return "p2p";
    case Operation::reduce: return "reduce";
    case Operation::broadcast: return "broadcast";
    case Operation::allreduce: return "allreduce";
    case Operation::allreduce_update: return "allreduce>update";
    case Operation::reduce_broadcast: return "reduce>broadcast";
    case Operation::matrix_vector: return "mat-vec";
  }
  return "";
}

bool is_to_all(Operation operation) noexcept {
  return operation == Operation::allreduce || operation == Operation::allreduce_update ||
         operation == Operation::reduce_broadcast;
}

double bound(Operation operation, int nodes) noexcept { return is_to_all(operation) ? 2.0 * (nodes - 1) / nodes : 1; }

}  // namespace plait::bench
