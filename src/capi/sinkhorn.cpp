#include <algorithm>
#include <utility>
#include <vector>

#include "plait/sinkhorn/scaling/scale.hpp"
#include "plait/sinkhorn/transport/transport.hpp"

#include "capi/handle.hpp"

using namespace plait::capi;
using plait::Index;
using plait::matrix_view;
using plait::sinkhorn::Marginals;

namespace {

plait::sinkhorn::Limits limits_of(const plait_sinkhorn_options& given) {
  plait::sinkhorn::Limits limits;
  if (given.tolerance != 0) limits.tolerance = given.tolerance;
  if (given.most_iterations != 0) limits.most_iterations = given.most_iterations;
  if (given.is_plain != 0) limits.acceleration = plait::sinkhorn::Acceleration::none;
  return limits;
}

plait_sinkhorn_result result_of(const plait::sinkhorn::Outcome& outcome) {
  using plait::sinkhorn::Status;
  static_assert(PLAIT_NUMERICAL_LIMIT == static_cast<int>(Status::numerical_limit), "both count alike");
  plait_sinkhorn_result result{};
  result.status = static_cast<plait_sinkhorn_status>(outcome.status);
  result.iterations = outcome.iterations;
  result.error = outcome.error;
  return result;
}

/// \param solve  solve(context, rows, marginals, options) returns factors of rows and columns, and the result
template <class Solve>
int solve_rows(plait_context* context, const plait_rows* given, const plait_sinkhorn_options* options, void* of_rows,
               void* of_columns, const char* name_of_rows, const char* name_of_columns, plait_sinkhorn_result* result,
               Solve&& solve) {
  Marginals marginals;
  return collective(
      context, "context",
      [&](auto&, plait::mpi::Alike& arguments) {
        const plait_rows& rows = expect_input(given, "rows", "a plait_rows");
        expect_at_least("rows", rows.rows, 0);
        expect_at_least("columns", rows.columns, 0);
        const Index bytes = plait::bytes(dtype<plait::RealDTypes>(rows.type));
        if (rows.rows > 0 && rows.columns > 0) {
          expect_leading_dimension(rows.leading_dimension, rows.columns, rows.rows, bytes, "rows");
          expect_array(rows.data, rows.rows * rows.columns, "data");
        }
        expect_array(of_rows, rows.rows, name_of_rows);
        expect_array(of_columns, rows.columns, name_of_columns);
        if (rows.row_sums != nullptr) marginals.rows = expect_array(rows.row_sums, rows.rows, "row_sums");
        if (rows.column_sums != nullptr)
          marginals.columns = expect_array(rows.column_sums, rows.columns, "column_sums");
        arguments.add("type", rows.type);
      },
      [&](auto& its) {
        plait::RealDTypes::with(static_cast<plait::DType>(given->type), [&]<class T>() {
          const bool empty = given->rows == 0 || given->columns == 0;
          const matrix_view<const T> rows(static_cast<const T*>(given->data), given->rows, given->columns,
                                          empty ? std::max(Index{1}, given->columns) : given->leading_dimension,
                                          plait::StorageOrder::row_major);
          const auto found =
              solve(*its.context, rows, marginals, options != nullptr ? *options : plait_sinkhorn_options{});
          std::ranges::copy(found.rows, static_cast<T*>(of_rows));
          std::ranges::copy(found.columns, static_cast<T*>(of_columns));
          if (result != nullptr) *result = found.result;
        });
      });
}

template <class T>
struct Factors {
  std::vector<T> rows, columns;
  plait_sinkhorn_result result;
};

}  // namespace

int plait_scale(plait_context* context, const plait_rows* k, const plait_sinkhorn_options* options, void* u, void* v,
                plait_sinkhorn_result* result) {
  return solve_rows(context, k, options, u, v, "u", "v", result,
                    []<class T>(plait::mpi::Context& its, matrix_view<const T> rows, const Marginals& marginals,
                                const plait_sinkhorn_options& given) {
                      auto found = plait::sinkhorn::scale<T, T>(its, rows, marginals, limits_of(given));
                      return Factors<T>{std::move(found.u), std::move(found.v), result_of(found.outcome)};
                    });
}

int plait_transport(plait_context* context, const plait_rows* costs, const plait_sinkhorn_options* options, void* f,
                    void* g, plait_sinkhorn_result* result) {
  return solve_rows(context, costs, options, f, g, "f", "g", result,
                    []<class T>(plait::mpi::Context& its, matrix_view<const T> rows, const Marginals& marginals,
                                const plait_sinkhorn_options& given) {
                      plait::sinkhorn::TransportOptions how;
                      how.epsilon = given.epsilon;
                      how.first_epsilon = given.first_epsilon;
                      how.limits = limits_of(given);
                      if (given.rho_rows != 0) how.rho.rows = given.rho_rows;
                      if (given.rho_columns != 0) how.rho.columns = given.rho_columns;
                      auto found = plait::sinkhorn::transport<T, T>(its, rows, marginals, how);
                      plait::sinkhorn::CostOffsets::add(found.f, found.offsets.rows);
                      plait::sinkhorn::CostOffsets::add(found.g, found.offsets.columns);
                      plait_sinkhorn_result values = result_of(found.outcome);
                      values.cost = found.cost, values.mass = found.mass;
                      values.primal = found.primal, values.dual = found.dual;
                      return Factors<T>{std::move(found.f), std::move(found.g), values};
                    });
}
