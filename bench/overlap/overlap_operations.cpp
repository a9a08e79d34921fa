#include "bench/overlap/overlap_operations.hpp"

#include <algorithm>
#include <cmath>
#include <span>
#include <utility>

#include <fmt/format.h>

#include "plait/base/error.hpp"
#include "plait/base/memory.hpp"
#include "plait/collective/pipeline.hpp"
#include "plait/mpi/reduction.hpp"

#include "bench/overlap/overlap_columns.hpp"
#include "bench/overlap/overlap_pairs.hpp"
#include "bench/overlap/overlap_update.hpp"

namespace plait::bench {

namespace {

using collective::Group;
using collective::Pipeline;

// Row `me / edge` and column `me % edge` of a square mesh that is numbered by rows.
struct Mesh {
  explicit Mesh(int ranks, int me)
      : edge(static_cast<int>(std::lround(std::sqrt(ranks)))), row(me / edge), column(me % edge) {
    if (edge * edge != ranks) throw ArgumentError(fmt::format("ranks: {}, expected a square", ranks));
  }
  [[nodiscard]] std::vector<int> ranks_of_row() const { return ranks(row * edge, 1); }
  [[nodiscard]] std::vector<int> ranks_of_column() const { return ranks(column, edge); }

  int edge, row, column;

 private:
  [[nodiscard]] std::vector<int> ranks(int first, int stride) const {
    std::vector<int> all;
    for (int i = 0; i < edge; ++i) all.push_back(first + i * stride);
    return all;
  }
};

MPI_Comm split(MPI_Comm comm, int color, int key) {
  MPI_Comm part = MPI_COMM_NULL;
  MPI_Comm_split(comm, color, key, &part);
  return part;
}

Group group_of(const mpi::Context& context, const Task& task) {
  if (task.operation == Operation::point_to_point) return pair(context);
  if (task.among == Among::columns) return column(context, context.topology().node_rank_of(context.rank()));
  return Group::all(context);
}

// Among how many ranks of a node its bytes are divided.
int shares(const mpi::Context& context, const Task& task) {
  if (task.operation == Operation::point_to_point) return pairs(context);
  return task.among == Among::columns ? columns(context) : 1;
}

}  // namespace

std::string name(const Task& task) {
  const std::string operation = name(task.operation);
  switch (task.among) {
    case Among::columns: return operation + "/columns";
    case Among::active: return operation + "/active";
    case Among::ranks: break;
  }
  return operation;
}

double bound(Operation operation, const mpi::Context& context) noexcept {
  const int nodes = context.topology().nodes();
  return bound(operation, nodes > 1 ? nodes : context.size());
}

std::string Variant::name() const {
  switch (by) {
    case By::blocking_mpi: return "mpi";
    case By::strands_of_mpi: return fmt::format("mpi*{}", strands);
    case By::levels: return levels.name();
    case By::plait: break;
  }
  return "ours";
}

struct Operands::State {
  State(mpi::Context& ctx, const Task& task, Index bytes)
      : context(&ctx),
        operation(task.operation),
        group(group_of(ctx, task)),
        data(bytes / shares(ctx, task) / Index{sizeof(double)}),
        beside(data.size()),
        own(task.among == Among::columns
                ? split(ctx.comm().handle(), ctx.topology().node_rank_of(ctx.rank()), ctx.rank())
                : MPI_COMM_NULL) {
    if (operation == Operation::allreduce_update) update.emplace(data.size());
    if (operation != Operation::matrix_vector) return;
    mesh.emplace(ctx.size(), ctx.rank());
    summed = Mesh(ctx.size(), mesh->column * mesh->edge).ranks_of_row();  // which came by its member on the diagonal
    row = split(ctx.comm().handle(), mesh->row, mesh->column);
    column = split(ctx.comm().handle(), mesh->column, mesh->row);
  }
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  ~State() {
    if (own != MPI_COMM_NULL) MPI_Comm_free(&own);
    if (row != MPI_COMM_NULL) MPI_Comm_free(&row);
    if (column != MPI_COMM_NULL) MPI_Comm_free(&column);
  }

  // The numbers are small and whole, so that a sum is exact in whatever order.
  [[nodiscard]] static double value(int rank, Index i) { return static_cast<double>((rank + 1) * (i % 97 + 1)); }
  [[nodiscard]] double result(Index i) const;
  [[nodiscard]] bool has_result() const;
  [[nodiscard]] Pipeline pipeline(const collective::PipelineOptions& options) const;
  [[nodiscard]] static std::function<void()> run_by(const std::shared_ptr<State>& self, const Variant& variant);
  void run_blocking() const;
  void apply_update() const {
    if (update) update->apply(data.span(), 0);
  }
  [[nodiscard]] std::function<void(std::span<std::byte>, Index)> chunk_update() const;

  mpi::Context* context;
  Operation operation;
  Group group;
  std::vector<int> summed = group.ranks();
  Array<double> data;
  Array<double> beside;  // of MPI's reductions: the root's operand, which is the same; the others' spare memory
  MPI_Comm own;          // of a column
  std::optional<Update> update;
  std::optional<Mesh> mesh;
  MPI_Comm row = MPI_COMM_NULL, column = MPI_COMM_NULL;
};

bool Operands::State::has_result() const {
  if (operation == Operation::point_to_point) return group.me() == 1;
  return operation != Operation::reduce || group.me() == 0;
}

double Operands::State::result(Index i) const {
  if (operation == Operation::broadcast || operation == Operation::point_to_point) return value(group.rank(0), i);
  double sum = 0;
  for (const int rank : summed) sum += value(rank, i);
  return sum;
}

std::function<void(std::span<std::byte>, Index)> Operands::State::chunk_update() const {
  if (!update) return {};
  return [this](std::span<std::byte> chunk, Index first) {
    const auto count = chunk.size() / sizeof(double);
    update->apply({reinterpret_cast<const double*>(chunk.data()), count}, first);
  };
}

Pipeline Operands::State::pipeline(const collective::PipelineOptions& options) const {
  const schedule::Combine sum = mpi::reduction<double>(mpi::Operation::sum());
  Pipeline result(*context, data.size(), Index{sizeof(double)}, options);
  switch (operation) {
    case Operation::reduce: result.reduce(group, 0, sum); break;
    case Operation::point_to_point:  // a chain of two
    case Operation::broadcast: result.broadcast(group, 0); break;
    case Operation::allreduce: result.allreduce(group, sum); break;
    case Operation::allreduce_update: result.allreduce(group, sum).compute(chunk_update()); break;
    case Operation::reduce_broadcast:
      // Of MPI's, one after the other: that is what the literature does.
      result.reduce(group, 0, sum).broadcast(group, 0);
      break;
    case Operation::matrix_vector:
      result.reduce(Group(*context, mesh->ranks_of_row()), mesh->row, sum)
          .broadcast(Group(*context, mesh->ranks_of_column()), mesh->column);
      break;
  }
  return result;
}

void Operands::State::run_blocking() const {
  const auto count = static_cast<int>(data.size());
  // MPICH 4.0 reads from MPI_IN_PLACE itself where the root is not the first rank of its node, and looks at the
  // result's place on all ranks of a node.
  const auto reduce = [&](MPI_Comm comm, bool is_root, int root) {
    MPI_Reduce(is_root ? beside.data() : data.data(), is_root ? data.data() : beside.data(), count, MPI_DOUBLE, MPI_SUM,
               root, comm);
  };
  const MPI_Comm all = own == MPI_COMM_NULL ? context->comm().handle() : own;
  switch (operation) {
    case Operation::point_to_point: send_blocking(group, data.span(), all); break;
    case Operation::reduce: reduce(all, group.me() == 0, 0); break;
    case Operation::broadcast: MPI_Bcast(data.data(), count, MPI_DOUBLE, 0, all); break;
    case Operation::allreduce_update:
    case Operation::allreduce: MPI_Allreduce(MPI_IN_PLACE, data.data(), count, MPI_DOUBLE, MPI_SUM, all); break;
    case Operation::reduce_broadcast:
      reduce(all, group.me() == 0, 0);
      MPI_Bcast(data.data(), count, MPI_DOUBLE, 0, all);
      break;
    case Operation::matrix_vector:
      reduce(row, mesh->row == mesh->column, mesh->row);
      MPI_Bcast(data.data(), count, MPI_DOUBLE, mesh->column, column);
      break;
  }
  apply_update();
}

Operands::Operands(mpi::Context& context, const Task& task, Index bytes)
    : state_(std::make_shared<State>(context, task, bytes)) {}

void Operands::rewrite() const {
  for (Index i = 0; i < state_->data.size(); ++i)
    state_->data[i] = state_->beside[i] = State::value(state_->context->rank(), i);
  if (state_->update) state_->update->rewrite();
}

std::function<void()> Operands::State::run_by(const std::shared_ptr<State>& self, const Variant& variant) {
  if (variant.by == Variant::By::blocking_mpi) return [state = self] { state->run_blocking(); };
  if (variant.by == Variant::By::levels) {
    const auto allreduce =
        std::make_shared<LevelledAllreduce>(*self->context, self->data.size(), variant.levels, self->chunk_update());
    return [allreduce, state = self, updates = !variant.levels.overlaps_compute] {
      allreduce->run(state->data.span());
      if (updates) state->apply_update();
    };
  }
  const bool by_mpi = variant.by == Variant::By::strands_of_mpi;
  if (by_mpi && self->operation == Operation::point_to_point) {
    return [state = self, strands = variant.strands] {
      send_in_parts(state->group, state->data.span(), strands, state->context->comm().handle());
    };
  }
  collective::PipelineOptions options;
  if (by_mpi) options = {.backend = collective::Backend::mpi, .strands = variant.strands};
  const auto schedule = std::make_shared<schedule::Schedule>(self->pipeline(options).schedule(name(self->operation)));
  return [schedule, state = self] {
    const auto binding = schedule::Binding::output(std::as_writable_bytes(state->data.span()));
    schedule->start({&binding, 1});
    schedule->wait();
  };
}

std::function<void()> Operands::run_by(const Variant& variant) const {
  auto run = State::run_by(state_, variant);
  if (state_->operation != Operation::point_to_point) return run;
  return [run = std::move(run), state = state_] {
    run();
    acknowledge(state->group, state->context->comm().handle());
  };
}

Index Operands::wrong_elements() const {
  Index wrong = 0;
  if (!state_->has_result()) return wrong;
  for (Index i = 0; i < state_->data.size(); ++i) wrong += state_->data[i] == state_->result(i) ? 0 : 1;
  if (state_->update) wrong += state_->update->wrong_elements([&](Index i) { return state_->result(i); });
  return wrong;
}

}  // namespace plait::bench
