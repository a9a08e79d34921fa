#include <array>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "plait/dense/matrix_vector.hpp"
#include "plait/dense/multiplication.hpp"
#include "plait/dense/symm/square_cube.hpp"

#include "capi/handle.hpp"

using namespace plait::capi;
using plait::Index;
using plait::matrix_view;
using plait::dense::MatrixVector;
using plait::dense::Multiplication;
namespace symm = plait::dense::symm;
using plait::layout::Layout;
using plait::layout::TileExtent;

struct plait_product : OnContext<plait_product> {
  static constexpr const char* name = "a product";
  std::array<std::vector<TileExtent>, 3> tiles;  // of A, B and C
  plait::AnyKernel<plait::FieldDTypes, Multiplication<float>, Multiplication<double>,
                   Multiplication<std::complex<float>>, Multiplication<std::complex<double>>>
      kernel;
};

struct plait_symm : OnContext<plait_symm> {
  static constexpr const char* name = "a plait_symm";
  plait::AnyKernel<plait::FieldDTypes, symm::SquareCube<float>, symm::SquareCube<double>,
                   symm::SquareCube<std::complex<float>>, symm::SquareCube<std::complex<double>>>
      kernel;
};

struct plait_matrix_vector : OnContext<plait_matrix_vector> {
  static constexpr const char* name = "a plait_matrix_vector";
  plait::AnyKernel<plait::FieldDTypes, MatrixVector<float>, MatrixVector<double>, MatrixVector<std::complex<float>>,
                   MatrixVector<std::complex<double>>>
      kernel;
};

namespace {

/// 0 leaves it to plait.
template <class T, class Given>
std::optional<T> chosen(Given given) {
  return given == 0 ? std::nullopt : std::optional<T>(static_cast<T>(given));
}

/// \param arguments  an enumerator is compared as C counts it
plait::dense::MultiplicationOptions options_of(const plait_product_options* given, plait::mpi::Alike& arguments) {
  plait::dense::MultiplicationOptions options;
  arguments.add("method", given == nullptr ? PLAIT_PRODUCT_AUTO : given->method);
  if (given == nullptr) return options;
  if (given->method != PLAIT_PRODUCT_AUTO) {
    options.method =
        enumerator<plait::dense::Method>("method", given->method, PLAIT_PRODUCT_RING, PLAIT_PRODUCT_IN_PLACE);
  }
  for (const int extent : {given->mesh_rows, given->mesh_columns, given->mesh_layers}) {
    expect_at_least("mesh_rows, mesh_columns, mesh_layers", extent, 0);
  }
  expect_at_least("memory_limit", given->memory_limit, 0);
  expect_at_least("panel_terms", given->panel_terms, 0);
  options.mesh = {given->mesh_rows, given->mesh_columns, given->mesh_layers};
  options.memory_limit = chosen<Index>(given->memory_limit);
  options.panel_terms = given->panel_terms;
  return options;
}

plait::dense::symm::Options options_of(const plait_symm_options* given) {
  plait::dense::symm::Options options;
  if (given == nullptr) return options;
  if (given->algorithm != PLAIT_SYMM_AUTO) {
    options.algorithm = enumerator<plait::dense::symm::Algorithm>("algorithm", given->algorithm, PLAIT_SYMM_ORIGINAL,
                                                                  PLAIT_SYMM_MIRRORED);
  }
  options.backend = given->mpi_collectives != 0 ? plait::dense::symm::Backend::mpi : plait::dense::symm::Backend::plait;
  options.strands = chosen<int>(given->strands);
  options.segment_bytes = chosen<Index>(given->segment_bytes);
  options.edge = chosen<int>(given->edge);
  options.layers = chosen<int>(given->layers);
  options.ranks_per_node = chosen<int>(given->ranks_per_node);
  return options;
}

template <class T, class GivenTile>
std::vector<matrix_view<T>> views(const GivenTile* tiles, Index count, std::span<const TileExtent> planned,
                                  const char* which) {
  return plait::redistribute::views_of<T>(tile_list(tiles, count, planned, which, Index{sizeof(T)}));
}

template <class T>
void execute(plait_product& its, Multiplication<T>& product, const plait_product_operands* operands) {
  T alpha{}, beta{};
  std::vector<matrix_view<const T>> a, b;
  std::vector<matrix_view<T>> c;
  checked(*its.context, [&](auto&) {
    const plait_product_operands& given = expect_input(operands, "operands", "a plait_product_operands");
    alpha = scalar(given.alpha, T{1});
    beta = scalar(given.beta, T{0});
    c = views<T>(given.c, given.c_count, its.tiles[2], "c");
    if (alpha == T{0}) return;
    a = views<const T>(given.a, given.a_count, its.tiles[0], "a");
    b = views<const T>(given.b, given.b_count, its.tiles[1], "b");
  });
  product.execute(alpha, a, b, beta, std::span<const matrix_view<T>>(c));
}

/// D² and, where `cubes`, D³.
int execute(plait_symm* symm, const plait_source_tile* d, const plait_target_tile* d2, const plait_target_tile* d3,
            bool cubes) {
  return with_kernel(symm, "symm", [&]<class T>(symm::SquareCube<T>& kernel) {
    std::vector<matrix_view<const T>> source;
    std::vector<matrix_view<T>> square, cube;
    checked(*symm->context, [&](plait::mpi::Alike& arguments) {
      arguments.add("cubes", cubes);
      const auto tiles = kernel.layout().tiles_of(symm->context->rank());
      source = views<const T>(d, std::ssize(tiles), tiles, "d");
      square = views<T>(d2, std::ssize(tiles), tiles, "d2");
      if (cubes) cube = views<T>(d3, std::ssize(tiles), tiles, "d3");
    });
    const std::span<const matrix_view<T>> squares(square), cubed(cube);
    cubes ? kernel.square_cube(source, squares, cubed) : kernel.square(source, squares);
  });
}

}  // namespace

int plait_product_create(plait_context* context, plait_type type, const plait_factor* a, const plait_factor* b,
                         const plait_layout* c, const plait_product_options* options, plait_product** product) {
  std::optional<plait::dense::Factors> factors;
  plait::dense::MultiplicationOptions its;
  return create(
      context, product, "product",
      [&](plait_product& made, plait::mpi::Alike& arguments) {
        static_cast<void>(dtype<plait::FieldDTypes>(type));
        its = options_of(options, arguments);
        for (const auto& factor : {std::pair(a, "a"), std::pair(b, "b")}) {
          named(factor.second,
                [&] { expect_handle(expect_input(factor.first, "factor", "a plait_factor").layout, "layout"); });
        }
        factors = plait::dense::Factors{a->layout->layout, b->layout->layout, op(a->op), op(b->op)};
        const int rank = made.context->rank();
        made.tiles = {factors->a.tiles_of(rank), factors->b.tiles_of(rank),
                      expect_handle(c, "c").layout.tiles_of(rank)};
      },
      [&](plait_product& made) {
        made.kernel.emplace(static_cast<plait::DType>(type), *made.context, *factors, c->layout, its);
      });
}

int plait_product_free(plait_product** product) { return free_handle(product, "product"); }

int plait_product_execute(plait_product* product, const plait_product_operands* operands) {
  return with_kernel(product, "product", [&](auto& kernel) { execute(*product, kernel, operands); });
}

int plait_product_choice_of(const plait_product* product, plait_product_choice* choice) {
  return guarded([&] {
    expect_handle(product, "product").kernel.visit([&](auto& kernel) {
      const plait::dense::Choice& its = kernel.choice();
      const plait::layout::ProcessGrid& mesh = its.arrangement.mesh();
      expect_output(choice, "choice") = {static_cast<int>(its.arrangement.method()) + PLAIT_PRODUCT_RING,
                                         mesh.rows,
                                         mesh.columns,
                                         mesh.layers,
                                         its.workspace_bytes,
                                         kernel.product_traffic().received.bytes,
                                         kernel.redistributed_bytes()};
    });
  });
}

int plait_symm_create(plait_context* context, plait_type type, plait_index n, const plait_symm_options* options,
                      plait_symm** symm) {
  plait::dense::symm::Options its;
  return create(
      context, symm, "symm",
      [&](plait_symm&, plait::mpi::Alike&) {
        static_cast<void>(dtype<plait::FieldDTypes>(type));
        its = options_of(options);
      },
      [&](plait_symm& made) { made.kernel.emplace(static_cast<plait::DType>(type), *made.context, n, its); });
}

int plait_symm_free(plait_symm** symm) { return free_handle(symm, "symm"); }

int plait_symm_layout(const plait_symm* symm, plait_layout** layout) {
  return create_layout(layout, [&] {
    return expect_handle(symm, "symm").kernel.visit([](auto& kernel) { return Layout(kernel.layout()); });
  });
}

int plait_symm_square(plait_symm* symm, const plait_source_tile* d, const plait_target_tile* d2) {
  return execute(symm, d, d2, nullptr, false);
}

int plait_symm_square_cube(plait_symm* symm, const plait_source_tile* d, const plait_target_tile* d2,
                           const plait_target_tile* d3) {
  return execute(symm, d, d2, d3, true);
}

int plait_matrix_vector_create(plait_context* context, plait_type type, plait_index rows, plait_index columns,
                               plait_vector_method method, const plait_vector_options* options,
                               plait_matrix_vector** product) {
  using plait::dense::VectorMethod;
  VectorMethod how{};
  plait::dense::VectorOptions its;
  return create(
      context, product, "product",
      [&](plait_matrix_vector&, plait::mpi::Alike&) {
        static_cast<void>(dtype<plait::FieldDTypes>(type));
        how = enumerator<VectorMethod>("method", method, PLAIT_VECTOR_ROWS, PLAIT_VECTOR_MESH);
        if (options == nullptr) return;
        if (options->strands != 0) its.strands = options->strands;
        its.segment = options->segment;
      },
      [&](plait_matrix_vector& made) {
        made.kernel.emplace(static_cast<plait::DType>(type), *made.context, plait::layout::Shape{rows, columns}, how,
                            its);
      });
}

int plait_matrix_vector_free(plait_matrix_vector** product) { return free_handle(product, "product"); }

int plait_matrix_vector_layout(const plait_matrix_vector* product, plait_layout** layout) {
  return create_layout(layout, [&] {
    return expect_handle(product, "product").kernel.visit([](auto& kernel) { return Layout(kernel.matrix_layout()); });
  });
}

int plait_matrix_vector_parts(const plait_matrix_vector* product, plait_part* x, plait_part* y) {
  return guarded([&] {
    expect_handle(product, "product").kernel.visit([&](auto& kernel) {
      expect_output(y, "y") = {kernel.y_part().begin, kernel.y_part().length()};
      expect_output(x, "x") = {kernel.x_part().begin, kernel.x_part().length()};
    });
  });
}

int plait_matrix_vector_execute(plait_matrix_vector* product, const plait_source_tile* a, const void* x, void* y) {
  return with_kernel(product, "product", [&]<class T>(MatrixVector<T>& kernel) {
    matrix_view<const T> tile;
    std::span<const T> from;
    std::span<T> to;
    checked(*product->context, [&](auto&) {
      const auto extents = kernel.matrix_layout().tiles_of(product->context->rank());
      const auto tiles = views<const T>(a, std::ssize(extents), extents, "a");
      if (!tiles.empty()) tile = tiles[0];
      from = expect_array(static_cast<const T*>(x), kernel.x_part().length(), "x");
      to = expect_array(static_cast<T*>(y), kernel.y_part().length(), "y");
    });
    kernel.execute(tile, from, to);
  });
}
