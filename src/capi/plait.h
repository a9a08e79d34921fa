#pragma once

/// The C API of plait: moves and transforms distributed matrices between MPI ranks,  A ← alpha·op(B) + beta·A, carries
/// out collective operations and pipelines of them, multiplies matrices, and computes density matrices, scalings and
/// plans of transport.
///
/// Everything in it holds from C and, by `plait.f90`, from Fortran.
///
/// Handles (`plait_context`, `plait_layout`, `plait_plan` and so on) are opaque. Who creates one frees it; the order
/// does not matter: what was made from a context or a layout keeps what it needs of it. Freeing NULL does nothing, and
/// a freed handle becomes NULL. What is no handle, a copy of a freed one included, is an error like any other.
///
/// Every function that returns an int returns PLAIT_SUCCESS or an error code, and then
/// `plait_last_error()` tells in words what is wrong. Nothing is written through output pointers then, but that a
/// handle which could not be created is NULL. Nothing ever ends the program.
///
/// A function that is *collective* is called by all ranks of its context, in the same order. If one rank passes a wrong
/// argument, all ranks return the error of the lowest such rank and its text, and none waits for another for ever. The
/// one thing that they cannot agree on is the handle of the context (or the plan) itself: it has to be a valid one on
/// all ranks. All other functions are *local*. Where MPI is not running, collective functions and `plait_progress`
/// return PLAIT_ERROR_MPI on the rank that calls them; those that free handles do free them.
///
/// One thread at a time uses a context and what was made from it. Sizes and indices are 64 bits, indices and ranks
/// count from 0, also in Fortran. Numbers without a unit are elements.

#include <stdint.h>

#include <mpi.h>

#ifdef __cplusplus
extern "C" {
#endif
#ifdef __GNUC__
#pragma GCC visibility push(default)
#endif

/// Rows, columns, elements, bytes.
typedef int64_t plait_index;

// ---- Errors ----

enum {
  PLAIT_SUCCESS = 0,
  PLAIT_ERROR_ARGUMENT = 1,       ///< an argument has a value that it may not have
  PLAIT_ERROR_SHAPE = 2,          ///< two matrices, or a tile and its place in a layout, do not fit each other
  PLAIT_ERROR_LAYOUT = 3,         ///< a layout is malformed or can't be had on the ranks that there are
  PLAIT_ERROR_FILE = 4,           ///< a file is missing, malformed, or can't be read or written
  PLAIT_ERROR_MPI = 5,            ///< an MPI call failed; its context can't be used any more
  PLAIT_ERROR_PEER_FAILED = 6,    ///< another rank failed under way; its own error tells why
  PLAIT_ERROR_OUT_OF_MEMORY = 7,  ///< on the rank that the text names
  PLAIT_ERROR_OTHER = 8,          ///< anything else: a mistake of plait's own
  PLAIT_ERROR_NO_GAP = 9          ///< a purification found no gap between occupied and empty states
};

/// What the last failure of a function in this thread was, in words: "" if there was none. It names the argument, its
/// value and what was expected; in collective functions "rank R: " stands in front. True until the next failure.
const char* plait_last_error(void);

/// "PLAIT_ERROR_SHAPE" for PLAIT_ERROR_SHAPE and so on; "unknown error" for a number that is no code.
const char* plait_error_name(int code);

/// The version of the library, such as "0.1.0".
const char* plait_version(void);

// ---- Contexts ----

/// What collective functions take: a duplicate of a communicator, so that plait's messages never meet yours, and what
/// is known of the nodes.
typedef struct plait_context plait_context;

/// Collective over `comm`, which is an intracommunicator and not MPI_COMM_NULL; MPI is running.
int plait_context_create(MPI_Comm comm, plait_context** context);

/// The same for a communicator of Fortran's: an integer, or the MPI_VAL of `mpi_f08`.
int plait_context_create_f(MPI_Fint comm, plait_context** context);

/// Collective. The duplicate is freed with the last plan that was made from the context.
int plait_context_free(plait_context** context);

/// This rank, and how many there are. Local.
int plait_context_rank(const plait_context* context, int* rank);
int plait_context_size(const plait_context* context, int* size);

/// The node of each rank, numbered by the nodes' lowest ranks from 0 on, for `plait_cost`. Local.
///
/// \param count  of integers in node_of: the size of the context
int plait_context_nodes(const plait_context* context, int* node_of, plait_index count);

// ---- Layouts ----

/// Which rank holds which element of a matrix. What one part of the rows and one part of the columns have in common is
/// a *tile*, a local matrix: in a block-cyclic layout the whole local array of a rank (ScaLAPACK's), so that a rank has
/// one tile or, outside of the process grid, none; in a custom layout a rank may have any number. All functions are
/// local.
typedef struct plait_layout plait_layout;

/// Which neighbours lie side by side in memory: those of a column (Fortran, BLAS, ScaLAPACK) or those of a row (C).
typedef int plait_order;
enum { PLAIT_COLUMN_MAJOR = 0, PLAIT_ROW_MAJOR = 1 };

/// How the ranks of a process grid are numbered: along its rows or down its columns (BLACS 'R' and 'C').
typedef int plait_grid_order;
enum { PLAIT_GRID_BY_ROWS = 0, PLAIT_GRID_BY_COLUMNS = 1 };

/// A block-cyclic layout: block (i, j) belongs to position ((i + first_row) mod grid_rows, (j + first_column) mod
/// grid_columns) of the process grid.
typedef struct plait_block_cyclic {
  plait_index rows, columns;              ///< of the matrix, >= 0
  plait_index block_rows, block_columns;  ///< >= 1; MB and NB
  plait_index grid_rows, grid_columns;    ///< >= 1
  plait_index first_row, first_column;    ///< position of the first block; RSRC and CSRC
  plait_grid_order grid_order;            ///< how the ranks of the grid are numbered, from first_rank on
  int first_rank;                         ///< >= 0
  const int* ranks;  ///< instead of the order, if not NULL: grid_rows * grid_columns ranks, row by row of the grid, any
                     ///< of them several times. A rank of the communicator each, which BLACS's own process numbers are
                     ///< not
  plait_order storage;  ///< how plait describes tiles; yours may lie otherwise
} plait_block_cyclic;

int plait_layout_create_block_cyclic(const plait_block_cyclic* description, plait_layout** layout);

/// Tile (i, j) is rows [row_splits[i], row_splits[i+1]) by columns [column_splits[j], column_splits[j+1]) and belongs
/// to rank owners[i * column_tiles + j].
///
/// \pre  row_tiles, column_tiles >= 1; row_splits has row_tiles + 1 entries, begins with 0 and never decreases;
///       column_splits likewise
int plait_layout_create_custom(plait_index row_tiles, const plait_index* row_splits, plait_index column_tiles,
                               const plait_index* column_splits, const int* owners, plait_order storage,
                               plait_layout** layout);

/// A layout in the words of the command `plait`, for a matrix of rows × columns: "rows@4", "cols@4", "blocks@3x2",
/// "block-cyclic:32x32@2x2,order=col,src=1,0"; see docs/command.md. PLAIT_ERROR_LAYOUT shows where the text is wrong.
int plait_layout_create_from_text(const char* text, plait_index rows, plait_index columns, plait_layout** layout);

/// The submatrix of rows × columns that begins at (row, column) of `whole`. Its tiles are parts of the tiles of the
/// whole, and begin at `row_offset`, `column_offset` in them: see `plait_tile_extent`.
int plait_layout_create_submatrix(const plait_layout* whole, plait_index row, plait_index column, plait_index rows,
                                  plait_index columns, plait_layout** layout);

/// The layout in which rank rank_of[r] holds what rank r held in `original`.
///
/// \param count  of integers in rank_of, >= 0 each; at least the ranks of `original`
int plait_layout_create_relabeled(const plait_layout* original, const int* rank_of, plait_index count,
                                  plait_layout** layout);

int plait_layout_free(plait_layout** layout);

int plait_layout_shape(const plait_layout* layout, plait_index* rows, plait_index* columns);

/// The least size of a communicator that the layout fits on.
int plait_layout_ranks(const plait_layout* layout, int* ranks);

/// The rank that holds an element.
int plait_layout_owner(const plait_layout* layout, plait_index row, plait_index column, int* rank);

/// A tile.
typedef struct plait_tile_extent {
  plait_index row, column;  ///< which part of the rows and which part of the columns it is
  plait_index rows, columns;
  plait_index row_offset, column_offset;  ///< of a submatrix: where its tile begins in the tile of the whole; else 0
} plait_tile_extent;

/// The tiles of a rank in increasing (row, column), those without elements included: the order in which plans take
/// them. None for a rank that holds nothing.
///
/// \param capacity  of `tiles`: as many are written at most. With 0, `tiles` may be NULL
/// \param count     becomes the number of all tiles of the rank
int plait_layout_tiles(const plait_layout* layout, int rank, plait_index capacity, plait_tile_extent* tiles,
                       plait_index* count);

/// The place in the matrix of the element (local_row, local_column) of tile (tile_row, tile_column). Takes the same
/// time for every element.
int plait_layout_place(const plait_layout* layout, plait_index tile_row, plait_index tile_column, plait_index local_row,
                       plait_index local_column, plait_index* row, plait_index* column);

// ---- Plans ----

/// Redistributes and transforms distributed matrices:  A ← alpha·op(B) + beta·A, of one pair of matrices or of several
/// in one exchange. Planned once, then executed any number of times, on any memory and any element types.
typedef struct plait_plan plait_plan;

/// op(B)(i, j) is B(i, j), B(j, i), or the conjugate of one of them, which for real and integer types is the same.
typedef int plait_op;
enum { PLAIT_IDENTITY = 0, PLAIT_TRANSPOSE = 1, PLAIT_CONJUGATE = 2, PLAIT_CONJUGATE_TRANSPOSE = 3 };

/// How the two matrices are distributed. op(B) and A have the same shape.
typedef struct plait_pair {
  const plait_layout* from;  ///< of B
  const plait_layout* to;    ///< of A
  plait_op op;
} plait_pair;

/// 0 and NULL leave a choice to plait.
typedef struct plait_options {
  plait_index memory_budget;  ///< staging memory in bytes that a rank may use; the least of all ranks counts; >= 4096
  plait_index chunk_bytes;    ///< most bytes in one message; the least of all ranks counts; >= 16
} plait_options;

/// Collective. The layouts, and what they are given to, are the same on all ranks.
///
/// \param options  NULL: all by plait
int plait_plan_create(plait_context* context, const plait_layout* from, const plait_layout* to, plait_op op,
                      const plait_options* options, plait_plan** plan);

/// The same for `count` pairs of matrices, which share messages: many small ones cost the latency of one. Collective.
int plait_plan_create_batch(plait_context* context, const plait_pair* pairs, plait_index count,
                            const plait_options* options, plait_plan** plan);

/// Finishes an execution under way first, for which it is collective; after MPI_Finalize, leaves it undone.
int plait_plan_free(plait_plan** plan);

/// Elements that this rank sends to others, receives from others, and keeps, for the pair with this number. Local.
typedef struct plait_volume {
  plait_index sent, received, kept;
} plait_volume;
int plait_plan_volume(const plait_plan* plan, plait_index pair, plait_volume* volume);

/// Element types. Complex numbers are two neighbours, real and imaginary part. Integers wrap. Matrices have those up to
/// PLAIT_COMPLEX_DOUBLE; the others are for collective operations.
typedef int plait_type;
enum {
  PLAIT_INT8 = 0,
  PLAIT_INT16 = 1,
  PLAIT_INT32 = 2,
  PLAIT_INT64 = 3,
  PLAIT_UINT8 = 4,
  PLAIT_UINT16 = 5,
  PLAIT_UINT32 = 6,
  PLAIT_UINT64 = 7,
  PLAIT_FLOAT = 8,
  PLAIT_DOUBLE = 9,
  PLAIT_COMPLEX_FLOAT = 10,
  PLAIT_COMPLEX_DOUBLE = 11,
  PLAIT_FLOAT16 = 12,   ///< IEEE binary16; computed with as float, rounded to nearest
  PLAIT_BFLOAT16 = 13,  ///< the upper half of a float, likewise
  PLAIT_LONG_DOUBLE = 14,
  PLAIT_BOOL = 15,     ///< C's bool
  PLAIT_LOGICAL = 16,  ///< Fortran's default logical: 4 bytes, true where they are not 0
  // A value and the index that PLAIT_MAXLOC and PLAIT_MINLOC carry along, as C lays out struct { value; int; }
  PLAIT_FLOAT_INT = 17,
  PLAIT_DOUBLE_INT = 18,
  PLAIT_LONG_INT = 19,
  PLAIT_SHORT_INT = 20,
  PLAIT_INT_INT = 21,
  PLAIT_LONG_DOUBLE_INT = 22,
  PLAIT_FLOAT_FLOAT = 23,  ///< Fortran's, whose index is a floating-point number too
  PLAIT_DOUBLE_DOUBLE = 24
};

/// Your memory of a tile of rows × columns: element (i, j) lies at data[i + j * leading_dimension] in column-major and
/// at data[i * leading_dimension + j] in row-major order. The leading dimension is at least the rows (columns); of a
/// tile without elements nothing is read.
typedef struct plait_source_tile {
  const void* data;
  plait_index leading_dimension;
  plait_order order;
} plait_source_tile;
typedef struct plait_target_tile {
  void* data;
  plait_index leading_dimension;
  plait_order order;
} plait_target_tile;

/// What this rank brings to one pair of matrices. Type and scalars are the same on all ranks, of which only the size of
/// elements and whether alpha is 0 are checked: each rank applies the scalars that it has to its own part of A. The
/// tiles are this rank's, in the order of `plait_layout_tiles`; no target overlaps a source or another target.
typedef struct plait_operands {
  plait_type type;
  const void* alpha;  ///< to one element; NULL: 1. 0 never reads B, whose tiles then need not be given
  const void* beta;   ///< to one element; NULL: 0, which never reads A
  const plait_source_tile* source;
  plait_index source_count;
  const plait_target_tile* target;
  plait_index target_count;
} plait_operands;

/// A ← alpha·op(B) + beta·A, for each pair of the plan. Collective.
///
/// \param operands  one for each pair
/// \param count     of them: 1 for a plan of one pair
int plait_execute(plait_plan* plan, const plait_operands* operands, plait_index count);

/// Begins an execution, which `plait_wait` ends. In between, `plait_progress` moves it along. Memory of tiles stays
/// untouched until `plait_wait` returns; the structs and scalars themselves may go at once. Collective.
int plait_start(plait_plan* plan, const plait_operands* operands, plait_index count);

/// Does what can be done without waiting. `done` becomes 1 when this rank is done (or nothing is under way), else 0; it
/// may be NULL. Local.
int plait_progress(plait_plan* plan, int* done);

/// Ends an execution; does nothing if none is under way. If it fails, A is undefined. Collective.
int plait_wait(plait_plan* plan);

// ---- Collective operations ----

/// MPI's predefined operations, on the types that MPI defines them on. Results are the same bits on all ranks.
typedef int plait_operation;
enum {
  PLAIT_OWN = 0,  ///< none of these but a function of yours
  PLAIT_MAX = 1,
  PLAIT_MIN = 2,
  PLAIT_SUM = 3,
  PLAIT_PROD = 4,
  PLAIT_BAND = 5,
  PLAIT_BOR = 6,
  PLAIT_BXOR = 7,
  PLAIT_LAND = 8,
  PLAIT_LOR = 9,
  PLAIT_LXOR = 10,
  PLAIT_MAXLOC = 11,
  PLAIT_MINLOC = 12,
  PLAIT_REPLACE = 13,
  PLAIT_NO_OP = 14,
  PLAIT_EXACT_SUM = 15  ///< the exact sum of all operands, rounded once; of real and complex numbers, for
                        ///< `plait_node_allreduce`, `plait_node_reduce` and `plait_node_reduce_scatter` only
};

/// out[i] ← a[i] op b[i],  0 <= i < n. `out` is `a`, `b`, or overlaps neither. Returns 0, or anything else to fail;
/// then the operation ends with PLAIT_ERROR_ARGUMENT on this rank and PLAIT_ERROR_PEER_FAILED on the others.
typedef int (*plait_combine_function)(plait_index n, const void* a, const void* b, void* out, void* data);

/// How elements of all ranks become one: {PLAIT_DOUBLE, PLAIT_SUM}, say, or an associative function of yours. The same
/// on all ranks, but for `data`.
typedef struct plait_reduction {
  plait_type type;                  ///< not looked at if element_bytes > 0
  plait_operation operation;        ///< PLAIT_OWN: `function`
  plait_combine_function function;  ///< of PLAIT_OWN; else NULL
  void* data;                       ///< given to the function
  plait_index element_bytes;        ///< of PLAIT_OWN: of one element; 0: those of `type`
  int commutes;                     ///< of PLAIT_OWN: not 0, if operands may be exchanged; else they keep their order
} plait_reduction;

/// data of all ranks ← data of rank `root`. All of these are collective, and arguments are the same on all ranks but
/// for the memory, and for the counts of `plait_alltoall`.
///
/// \param count  of elements in data, >= 0, 64 bits as everywhere
int plait_broadcast(plait_context* context, void* data, plait_index count, plait_type type, int root);

/// data of rank `root` ← data[0] op data[1] op … of all ranks; what the others have stays as it is.
int plait_reduce(plait_context* context, void* data, plait_index count, const plait_reduction* reduction, int root);

/// data of all ranks ← data[0] op data[1] op …
int plait_allreduce(plait_context* context, void* data, plait_index count, const plait_reduction* reduction);

/// out ← this rank's block of in[0] op in[1] op …
///
/// \param in      all blocks, one behind the other; stays as it is
/// \param counts  for each rank, the elements of its block: `plait_context_size` entries
int plait_reduce_scatter(plait_context* context, const void* in, void* out, const plait_index* counts,
                         const plait_reduction* reduction);

/// all ← the blocks of all ranks, one behind the other; `own` is this rank's, apart from `all`.
///
/// \param counts  as above
int plait_allgather(plait_context* context, const void* own, void* all, const plait_index* counts, plait_type type);

/// out ← the blocks that all ranks have for this one. The i-th block of `in` is for rank i; that of `out` from rank i.
///
/// \param send_counts, receive_counts  elements of each block; what one rank sends, the other expects
int plait_alltoall(plait_context* context, const void* in, const plait_index* send_counts, void* out,
                   const plait_index* receive_counts, plait_type type);

/// One of these operations under way.
typedef struct plait_request plait_request;

/// The same operations, begun: `plait_request_wait` ends them. In between, `plait_request_progress` moves them along.
/// Memory stays untouched until then; counts and reductions may go at once. Collective.
int plait_start_broadcast(plait_context* context, void* data, plait_index count, plait_type type, int root,
                          plait_request** request);
int plait_start_reduce(plait_context* context, void* data, plait_index count, const plait_reduction* reduction,
                       int root, plait_request** request);
int plait_start_allreduce(plait_context* context, void* data, plait_index count, const plait_reduction* reduction,
                          plait_request** request);
int plait_start_reduce_scatter(plait_context* context, const void* in, void* out, const plait_index* counts,
                               const plait_reduction* reduction, plait_request** request);
int plait_start_allgather(plait_context* context, const void* own, void* all, const plait_index* counts,
                          plait_type type, plait_request** request);
int plait_start_alltoall(plait_context* context, const void* in, const plait_index* send_counts, void* out,
                         const plait_index* receive_counts, plait_type type, plait_request** request);

/// What `plait.f90` gives in place of an array with gaps, of which Fortran would make a copy: all ranks are told.
const void* plait_array_with_gaps(void);

/// Does what can be done without waiting. `done` becomes 1 when this rank is done, else 0; it may be NULL. Local.
int plait_request_progress(plait_request* request, int* done);

/// Ends the operation and frees the request, whether it succeeds or not; for NULL nothing is done. Collective. After
/// MPI_Finalize the operation is left undone.
int plait_request_wait(plait_request** request);

// ---- Pipelines ----

/// Operations on one vector of each rank, one after the other, that overlap: what one has finished of the vector, the
/// next takes at once. Planned once, then executed any number of times, on any memory.
typedef struct plait_pipeline plait_pipeline;

typedef int plait_stage_kind;
enum {
  PLAIT_STAGE_BROADCAST = 1,
  PLAIT_STAGE_REDUCE = 2,  ///< what others than the root hold after it is what they held before
  PLAIT_STAGE_ALLREDUCE = 3,
  PLAIT_STAGE_COMPUTE = 4
};

/// Computes with `count` elements that are final, of which the first one is element number `first` of the vector, and
/// may change them; called once for each segment of the vector, in any order. Returns 0, or anything else to fail; then
/// the execution ends with PLAIT_ERROR_ARGUMENT on this rank and PLAIT_ERROR_PEER_FAILED on the others.
typedef int (*plait_compute_function)(void* elements, plait_index first, plait_index count, void* data);

/// One operation. All ranks name the same kinds in the same order, each with the group that it is in.
typedef struct plait_stage {
  plait_stage_kind kind;
  const int* ranks;           ///< the group: rank_count ranks of the context, each once. NULL: all
  plait_index rank_count;     ///< the group may leave this rank out, which then has nothing to do
  int widest;                 ///< the size of the largest of the groups that do the same side by side; 0: this one's
  int root;                   ///< of broadcast and reduce: index in the group
  plait_reduction reduction;  ///< of reduce and allreduce
  plait_compute_function compute;  ///< of PLAIT_STAGE_COMPUTE
  void* data;                      ///< given to it
} plait_stage;

/// 0 leaves a choice to plait. The same on all ranks.
typedef struct plait_pipeline_options {
  int strands;                ///< pieces of the vector that are under way side by side
  plait_index segment_bytes;  ///< of what one message carries at most
} plait_pipeline_options;

/// Collective. A reduction among all ranks that is followed by a broadcast from its root is an allreduce, and is
/// carried out as one.
///
/// \param elements       of the vector, the same on all ranks
/// \param element_bytes  of one element, >= 1
/// \param options        NULL: all by plait
int plait_pipeline_create(plait_context* context, plait_index elements, plait_index element_bytes,
                          const plait_stage* stages, plait_index stage_count, const plait_pipeline_options* options,
                          plait_pipeline** pipeline);

/// Finishes an execution under way first, for which it is collective; after MPI_Finalize, leaves it undone.
int plait_pipeline_free(plait_pipeline** pipeline);

/// All stages on the vector at `data`, in place. Collective.
int plait_pipeline_execute(plait_pipeline* pipeline, void* data);

/// Begins an execution, which `plait_pipeline_wait` ends. In between, `plait_pipeline_progress` moves it along, and
/// calls functions of yours. Collective.
int plait_pipeline_start(plait_pipeline* pipeline, void* data);

/// Does what can be done without waiting. `done` becomes 1 when this rank is done (or nothing is under way), else 0; it
/// may be NULL. Local.
int plait_pipeline_progress(plait_pipeline* pipeline, int* done);

/// Ends an execution; does nothing if none is under way. If it fails, the vector is undefined. Collective.
int plait_pipeline_wait(plait_pipeline* pipeline);

// ---- The ranks of a node ----

/// Memory of this rank that the other ranks of its node read in place, so that what plait moves out of it is copied
/// once instead of twice. Where the node has too little of it, it is ordinary memory, with which everything works as
/// well.
typedef struct plait_shared_memory plait_shared_memory;

/// Collective.
///
/// \param bytes    each rank as it likes, >= 0
/// \param address  becomes that of the memory, which begins on a cache line and is uninitialised
int plait_allocate_shared(plait_context* context, plait_index bytes, plait_shared_memory** memory, void** address);

/// After the last operation that uses it on any rank of the node. Local.
int plait_free_shared(plait_shared_memory** memory);

/// Reductions among the ranks of one node, through memory that they share: the quickest ones there are. Operands are
/// combined in the order of ranks. Operands and results in memory of `plait_allocate_shared` are read and written where
/// they lie; all other memory is copied there and back. Where the context spans several nodes, each reduces by itself.
typedef struct plait_node plait_node;

/// Collective over the context. Callers keep it: to make one takes some communication, to use it none.
int plait_node_create(plait_context* context, plait_node** node);
int plait_node_free(plait_node** node);

/// This rank in its node, and how many ranks that has. Local.
int plait_node_rank(const plait_node* node, int* rank);
int plait_node_size(const plait_node* node, int* size);

/// out ← in[0] op in[1] op … of all ranks of the node. All of these are collective over the ranks of the node, with the
/// same count, counts, reduction and root on all of them. `out` is `in`, or does not overlap it.
int plait_node_allreduce(plait_node* node, const void* in, void* out, plait_index count,
                         const plait_reduction* reduction);

/// The same on the rank `root` of the node; `out` of others is not looked at, and may be NULL.
int plait_node_reduce(plait_node* node, const void* in, void* out, plait_index count, const plait_reduction* reduction,
                      int root);

/// out ← this rank's block of it. In place, it comes to lie at the beginning.
///
/// \param counts  for each rank of the node, the elements of its block
int plait_node_reduce_scatter(plait_node* node, const void* in, void* out, const plait_index* counts,
                              const plait_reduction* reduction);

/// out ← in[0] op … op in of this rank; `exscan`: of the rank before it, where `out` of rank 0 is not looked at.
int plait_node_scan(plait_node* node, const void* in, void* out, plait_index count, const plait_reduction* reduction);
int plait_node_exscan(plait_node* node, const void* in, void* out, plait_index count, const plait_reduction* reduction);

// ---- Reproducible sums ----

/// result ← the sum of all ranks' addends, exact and rounded once: the same bits whatever the number of ranks and
/// whoever has which addends. Collective.
///
/// \param count   of this rank's addends, >= 0
/// \param type    PLAIT_FLOAT, PLAIT_DOUBLE, PLAIT_COMPLEX_FLOAT or PLAIT_COMPLEX_DOUBLE; the same on all ranks
/// \param result  one element, on all ranks
int plait_reproducible_sum(plait_context* context, const void* addends, plait_index count, plait_type type,
                           void* result);

/// Such sums of arrays, element by element.
typedef struct plait_summation plait_summation;

/// Collective. Callers keep it.
int plait_summation_create(plait_context* context, plait_summation** summation);
int plait_summation_free(plait_summation** summation);

/// out[i] ← the sum of in[i] of all ranks. `out` is `in`, or does not overlap it. Collective, with the same count and
/// type.
int plait_summation_allreduce(plait_summation* summation, const void* in, void* out, plait_index count,
                              plait_type type);

/// The same on rank `root`; `out` of others is not looked at, and may be NULL.
int plait_summation_reduce(plait_summation* summation, const void* in, void* out, plait_index count, plait_type type,
                           int root);

// ---- Products ----

/// C ← alpha·op(A)·op(B) + beta·C of distributed matrices of any shapes, in any layouts. Planned once, then executed
/// any number of times. Element types are PLAIT_FLOAT, PLAIT_DOUBLE and the complex ones of both.
typedef struct plait_product plait_product;

/// Where a factor lies, and what is done to it.
typedef struct plait_factor {
  const plait_layout* layout;
  plait_op op;
} plait_factor;

/// How parts of A and B come to those that multiply them: see docs/multiplication.md.
typedef int plait_product_method;
enum {
  PLAIT_PRODUCT_AUTO = 0,
  PLAIT_PRODUCT_RING = 1,     ///< one of them goes round: on meshes of one row or one column
  PLAIT_PRODUCT_SUMMA = 2,    ///< panel by panel: on all meshes
  PLAIT_PRODUCT_CANNON = 3,   ///< both go round: on square meshes
  PLAIT_PRODUCT_IN_PLACE = 4  ///< SUMMA's panels, of matrices that lie as they are given, such as block-cyclic ones
};

/// 0 leaves a choice to plait. The same on all ranks.
typedef struct plait_product_options {
  plait_product_method method;
  int mesh_rows, mesh_columns, mesh_layers;  ///< of the ranks that multiply; layers share the terms (2.5D, 3D)
  plait_index memory_limit;                  ///< bytes that a rank may take beside A, B and C; 0: as many as there are
  plait_index panel_terms;                   ///< columns of A in one panel of SUMMA
} plait_product_options;

/// Collective. Layouts, ops and options are the same on all ranks.
///
/// \param options  NULL: all by plait
int plait_product_create(plait_context* context, plait_type type, const plait_factor* a, const plait_factor* b,
                         const plait_layout* c, const plait_product_options* options, plait_product** product);
int plait_product_free(plait_product** product);

/// What this rank brings: scalars, the same on all ranks, and its tiles in the order of `plait_layout_tiles`. C may
/// have memory in common with A or B.
typedef struct plait_product_operands {
  const void* alpha;           ///< to one element; NULL: 1. 0 never reads A and B, whose tiles need not be given then
  const void* beta;            ///< to one element; NULL: 0, which never reads C
  const plait_source_tile* a;  ///< before op
  plait_index a_count;
  const plait_source_tile* b;
  plait_index b_count;
  const plait_target_tile* c;
  plait_index c_count;
} plait_product_operands;

/// C ← alpha·op(A)·op(B) + beta·C. Collective.
int plait_product_execute(plait_product* product, const plait_product_operands* operands);

/// How it is done, which is the same on all ranks, and what this rank receives in an execution.
typedef struct plait_product_choice {
  plait_product_method method;
  int mesh_rows, mesh_columns, mesh_layers;
  plait_index workspace_bytes;      ///< of the rank that takes most
  plait_index received_bytes;       ///< while matrices are multiplied
  plait_index redistributed_bytes;  ///< received before and after that, from and to the given layouts
} plait_product_choice;
int plait_product_choice_of(const plait_product* product, plait_product_choice* choice);

/// D² and D³ of a symmetric (complex: Hermitian) D, which lies in a layout of the algorithm's own; that it is symmetric
/// is not checked. Types as above.
typedef struct plait_symm plait_symm;

/// The algorithms of Huang and Chow's paper, and plait's own, in which half of each product is computed.
typedef int plait_symm_algorithm;
enum {
  PLAIT_SYMM_AUTO = 0,
  PLAIT_SYMM_ORIGINAL = 1,    ///< Algorithm 3
  PLAIT_SYMM_BASELINE = 2,    ///< Algorithm 4
  PLAIT_SYMM_OVERLAPPED = 3,  ///< Algorithm 5
  PLAIT_SYMM_CANNON = 4,      ///< Algorithm 6
  PLAIT_SYMM_MIRRORED = 5     ///< plait's own
};

/// 0 leaves a choice to plait. The same on all ranks.
typedef struct plait_symm_options {
  plait_symm_algorithm algorithm;
  int mpi_collectives;        ///< not 0: Algorithms 5 and 6 by MPI's non-blocking collectives
  int strands;                ///< of Algorithms 5 and 6: N_DUP
  plait_index segment_bytes;  ///< of what one message carries at most
  int edge;                   ///< the mesh has edge × edge × edge ranks, or edge × edge × layers
  int layers;                 ///< of Algorithm 6
  int ranks_per_node;         ///< only so many take part and hold blocks
} plait_symm_options;

/// Collective. D has n × n elements; n and options are the same on all ranks.
int plait_symm_create(plait_context* context, plait_type type, plait_index n, const plait_symm_options* options,
                      plait_symm** symm);
int plait_symm_free(plait_symm** symm);

/// Where D, D² and D³ lie: a layout of your own, to be freed. A rank has one tile at most. Local.
int plait_symm_layout(const plait_symm* symm, plait_layout** layout);

/// d2 ← D², d3 ← D³. Tiles of ranks that have none are not looked at, and may be NULL. Collective.
int plait_symm_square(plait_symm* symm, const plait_source_tile* d, const plait_target_tile* d2);
int plait_symm_square_cube(plait_symm* symm, const plait_source_tile* d, const plait_target_tile* d2,
                           const plait_target_tile* d3);

/// y ← A·x for a matrix that stays where it is. Types as above.
typedef struct plait_matrix_vector plait_matrix_vector;

/// How A is cut, and with it x and y.
typedef int plait_vector_method;
enum {
  PLAIT_VECTOR_ROWS = 0,     ///< a rank has whole rows; x is gathered
  PLAIT_VECTOR_COLUMNS = 1,  ///< a rank has whole columns; parts of y are added up and scattered
  PLAIT_VECTOR_MESH = 2      ///< on a square mesh of ranks: Algorithms 1 and 2 of Huang and Chow
};

/// 0 leaves a choice to plait. The same on all ranks.
typedef struct plait_vector_options {
  int strands;          ///< pieces of a vector that are under way together
  plait_index segment;  ///< elements of a message at most
} plait_vector_options;

/// Collective.
int plait_matrix_vector_create(plait_context* context, plait_type type, plait_index rows, plait_index columns,
                               plait_vector_method method, const plait_vector_options* options,
                               plait_matrix_vector** product);
int plait_matrix_vector_free(plait_matrix_vector** product);

/// Where A lies: a layout of your own, to be freed. A rank has one tile at most, which is column-major. Local.
int plait_matrix_vector_layout(const plait_matrix_vector* product, plait_layout** layout);

/// Elements `first` to `first + count - 1` of a vector.
typedef struct plait_part {
  plait_index first, count;
} plait_part;

/// Which elements of x and of y this rank has; on a mesh the ranks of one column have the same. Local.
int plait_matrix_vector_parts(const plait_matrix_vector* product, plait_part* x, plait_part* y);

/// \param a     this rank's tile; not looked at where it has none
/// \param x, y  this rank's parts, without gaps
int plait_matrix_vector_execute(plait_matrix_vector* product, const plait_source_tile* a, const void* x, void* y);

// ---- Density matrices ----

/// D, the projector onto the eigenvectors of H with the lowest eigenvalues, by polynomials of H alone or by all
/// eigenstates: see docs/purification.md. With an overlap S of a basis that is not orthonormal, D = D S D. Planned
/// once, then executed any number of times, such as once for each H of a self-consistent field: what iterations tell of
/// one H saves products for the next if that is near. PLAIT_DOUBLE or PLAIT_COMPLEX_DOUBLE.
typedef struct plait_purification plait_purification;

/// What of symmetric (complex: Hermitian) matrices is looked at.
typedef int plait_triangle;
enum { PLAIT_WHOLE = 0, PLAIT_LOWER = 1, PLAIT_UPPER = 2 };

/// Collective. Layouts, of square matrices of one size, and `triangle` are the same on all ranks.
///
/// \param s         NULL: the basis is orthonormal
/// \param d         where D is to go
/// \param triangle  of H and S; D is always whole
int plait_purification_create(plait_context* context, plait_type type, const plait_layout* h, const plait_layout* s,
                              const plait_layout* d, plait_triangle triangle, plait_purification** purification);
int plait_purification_free(plait_purification** purification);

/// Takes S, which stays until it is called again: before the first H, and whenever S changes. S^(-1/2), which
/// polynomials take, is found when it is first needed. Collective.
int plait_purification_set_overlap(plait_purification* purification, const plait_source_tile* s, plait_index s_count);

typedef int plait_purification_method;
enum {
  /// What is estimated to take least: CANONICAL, TC2, or where `gershgorin` and `most_iterations` are 0 and there are
  /// 100 states or more, EIGEN.
  PLAIT_PURIFICATION_AUTO = 0,
  PLAIT_PURIFICATION_CANONICAL = 1,  ///< Palser, Manolopoulos 1998
  PLAIT_PURIFICATION_MCWEENY = 2,    ///< for a known chemical potential
  PLAIT_PURIFICATION_TC2 = 3,        ///< Niklasson 2002
  PLAIT_PURIFICATION_TRS4 = 4,       ///< Niklasson, Tymczak, Challacombe 2003
  PLAIT_PURIFICATION_HPCP = 5,       ///< Truflandier, Dianzinga, Bowler 2016
  PLAIT_PURIFICATION_EIGEN = 6       ///< by LAPACK, on many ranks by ScaLAPACK; the one for smearing
};

/// How occupations fall from 1 to 0, by x = (energy - chemical potential) / width.
typedef int plait_smearing;
enum {
  PLAIT_SMEARING_NONE = 0,              ///< a step
  PLAIT_SMEARING_FERMI_DIRAC = 1,       ///< 1 / (1 + exp(x)): the width is Boltzmann's constant times the temperature
  PLAIT_SMEARING_GAUSSIAN = 2,          ///< erfc(x) / 2
  PLAIT_SMEARING_METHFESSEL_PAXTON = 3  ///< the same and its first correction
};

/// The same on all ranks. Energies are in the units of H.
typedef struct plait_purification_problem {
  plait_index electrons;
  int electrons_per_state;  ///< 1 or 2; 0: 2, a closed shell
  plait_purification_method method;
  const double* chemical_potential;  ///< of PLAIT_PURIFICATION_MCWEENY, which AUTO takes where there is one; else NULL
  int gershgorin;                    ///< not 0: bounds the spectrum by the sums of rows, not by Lanczos
  plait_index most_iterations;       ///< after which there is taken to be no gap; 0: 300
  plait_smearing smearing;           ///< AUTO takes EIGEN for it, and for `eigenvalues`
  double width;                      ///< of the smearing
  double* eigenvalues;               ///< as many as H has rows, for all, rising, on each rank; or NULL
  /// Not 0: steps in single precision as far as these lead, in half the time. The energy is as right as without, D to
  /// some 1e-6; where the gap is too small for them it is of double precision. AUTO takes no eigenstates then.
  int mixed_precision;
} plait_purification_problem;

/// What is known of a D. There is no tolerance: steps end where rounding does. Eigenstates take none.
typedef struct plait_purification_result {
  plait_index iterations;
  plait_index products;      ///< of matrices, those that change the basis included
  double energy;             ///< electrons_per_state · tr(D H)
  double trace_error;        ///< tr(D S) - occupied states
  double idempotency_error;  ///< ‖D S D - D‖, Frobenius
  double commutator_error;   ///< how well D commutes with H in an orthonormal basis, in widths of the spectrum
  double lowest_potential, highest_potential;  ///< no state is between them: any chemical potential in there is right
  double highest_occupied, occupied_error;     ///< not above the true one, and by how much at most below it
  double lowest_empty, empty_error;            ///< likewise above it; infinite where there is no such state
  double entropy;                              ///< electrons_per_state · that of the occupations, in units of k
} plait_purification_result;

/// D ← the density matrix of H. Collective.
///
/// Returns PLAIT_ERROR_NO_GAP on all ranks where there is none, and PLAIT_ERROR_ARGUMENT for matrices that are not
/// symmetric, naming an element.
///
/// \param result  may be NULL
int plait_purification_execute(plait_purification* purification, const plait_purification_problem* problem,
                               const plait_source_tile* h, plait_index h_count, const plait_target_tile* d,
                               plait_index d_count, plait_purification_result* result);

/// The same step by step: `begin`, `advance` until `done` is 1, `end`, which makes the steps that are left. H may go
/// after `begin`, in which eigenstates are found: there is nothing to advance then. `progress` has iterations, energy
/// and errors so far; it may be NULL. Collective.
int plait_purification_begin(plait_purification* purification, const plait_purification_problem* problem,
                             const plait_source_tile* h, plait_index h_count);
int plait_purification_advance(plait_purification* purification, int* done, plait_purification_result* progress);
int plait_purification_end(plait_purification* purification, const plait_target_tile* d, plait_index d_count,
                           plait_purification_result* result);

/// Several Hamiltonians that share their electrons, such as those of k-points and of both spins, "points" 0, 1, …: all
/// eigenstates of each, found by ranks of its own at the same time as those of others, and filled up to one chemical
/// potential. Set H of every point, `fill`, take D of every point. PLAIT_DOUBLE or PLAIT_COMPLEX_DOUBLE.
typedef struct plait_points plait_points;

/// Collective.
/// \param triangle  of all H and S
/// \param states    how many each point has, `count` numbers
int plait_points_create(plait_context* context, plait_type type, plait_triangle triangle, const plait_index* states,
                        plait_index count, plait_points** points);
int plait_points_free(plait_points** points);

/// Takes H of a point, and the overlap S of its basis, which stay until it is called again for this point. Collective.
/// \param s_layout  NULL: the basis is orthonormal, and `s` and `s_count` are not looked at
int plait_points_set(plait_points* points, plait_index point, const plait_layout* h_layout, const plait_source_tile* h,
                     plait_index h_count, const plait_layout* s_layout, const plait_source_tile* s,
                     plait_index s_count);

/// The same on all ranks. Energies are in the units of H.
typedef struct plait_points_problem {
  double electrons;         ///< Σ weight · electrons of the point
  int electrons_per_state;  ///< 1 or 2; 0: 2, or 1 with two spins
  int spins;                ///< 1 or 2; 0: 1. With 2 the first half of the points has one spin, the other the other one
  const double* weights;    ///< of the points of one spin, in any unit: they are 1 together; NULL: all alike
  plait_smearing smearing;
  double width;  ///< of the smearing
} plait_points_problem;

typedef struct plait_points_result {
  double energy;       ///< Σ weight · electrons_per_state · tr(D H)
  double entropy;      ///< likewise, in units of k
  double trace_error;  ///< the largest of all points, and so the next two: see plait_purification_result
  double idempotency_error;
  double commutator_error;
  double lowest_potential, highest_potential;  ///< any in there is right: the gap, or one with smearing
  double highest_occupied, lowest_empty;  ///< of all points, without smearing; infinite where there is no such state
  double direct_gap;                      ///< the least between two states of one point
  plait_index frontier_points[2];         ///< at which the highest occupied and the lowest empty state are
} plait_points_result;

/// Finds the eigenstates, if any H was set since, and fills those of all points. Collective.
///
/// Returns PLAIT_ERROR_NO_GAP on all ranks where, without smearing, whole states do not hold the electrons, or the next
/// one has the energy of the last one.
///
/// \param result  may be NULL
int plait_points_fill(plait_points* points, const plait_points_problem* problem, plait_points_result* result);

/// D of a point ← what `fill` made. Collective.
int plait_points_take(plait_points* points, plait_index point, const plait_layout* d_layout, const plait_target_tile* d,
                      plait_index d_count);

/// The energies of a point, rising, and which share of each state is occupied: as many as the point has states, on each
/// rank that asks. Local.
/// \param energies, occupations  may be NULL
int plait_points_states(plait_points* points, plait_index point, double* energies, double* occupations);

// ---- Scaling and optimal transport ----

/// This rank's rows of a matrix whose rows are dealt to the ranks, rank 0 has the first ones, and the sums that they
/// and the columns are to have. In Fortran an array (columns, rows).
typedef struct plait_rows {
  plait_type type;   ///< PLAIT_FLOAT or PLAIT_DOUBLE
  const void* data;  ///< element (i, j) of these rows at data[i * leading_dimension + j]
  plait_index rows, columns, leading_dimension;
  const double* row_sums;     ///< of these rows; NULL on all ranks: all alike
  const double* column_sums;  ///< of all columns, the same on all ranks; NULL: all alike
} plait_rows;

/// Why iterations ended. Only the first means that the result is what was asked for.
typedef int plait_sinkhorn_status;
enum {
  PLAIT_CONVERGED = 0,
  PLAIT_ITERATION_LIMIT = 1,
  PLAIT_NO_SUPPORT = 2,            ///< proved: no matrix with zeros where this one has them has such sums, all alike
  PLAIT_INFEASIBLE_MARGINALS = 3,  ///< the same of sums that differ
  PLAIT_NUMERICAL_LIMIT = 4        ///< numbers left their range, or are as good as rounding lets them be
};

/// 0 leaves a choice to plait. The same on all ranks.
typedef struct plait_sinkhorn_options {
  double tolerance;             ///< of `error`; 0: 1e-9
  plait_index most_iterations;  ///< 0: 10000
  // Of transport:
  double epsilon;                ///< in units of the costs; has no default
  double first_epsilon;          ///< to begin with, divided by 4 until it is epsilon; 0: chosen by the costs
  double rho_rows, rho_columns;  ///< what it costs to miss sums, rho KL(sums | given ones); 0: they are not missed
  // Of both:
  int is_plain;  ///< 1: each iteration gives rows and columns just their sums; 0: iterations are accelerated
} plait_sinkhorn_options;

typedef struct plait_sinkhorn_result {
  plait_sinkhorn_status status;
  plait_index iterations;
  double error;         ///< Σ |sum of a column - what it is to be| / Σ of all
  double cost;          ///< of transport: Σ C P
  double mass;          ///< of transport: Σ P
  double primal, dual;  ///< of transport: the values of both problems, between which the optimum is
} plait_sinkhorn_result;

/// Finds u and v with which diag(u) K diag(v) has the sums that are asked for. K is only read. Collective.
///
/// \param u  of this rank's rows; \param v of all columns, the same on all ranks: of the type of K
int plait_scale(plait_context* context, const plait_rows* k, const plait_sinkhorn_options* options, void* u, void* v,
                plait_sinkhorn_result* result);

/// Finds the plan P(i, j) = exp((f[i] + g[j] - C(i, j)) / epsilon) of entropic optimal transport, which has these sums
/// and minimises Σ C P + epsilon Σ P (log P - 1). Costs of +infinity forbid an entry. Collective.
int plait_transport(plait_context* context, const plait_rows* costs, const plait_sinkhorn_options* options, void* f,
                    void* g, plait_sinkhorn_result* result);

// ---- Relabeling ----

/// What one rank sends to another, for a cost of your own.
typedef struct plait_package {
  plait_index bytes;
  plait_index transformed_bytes;  ///< of them, those that are transposed or conjugated on their way
} plait_package;

/// What it costs that rank `from` sends a package to rank `to`: >= 0, in units of your choice. Returns 0, or anything
/// else to give up. Deterministic, and the same on all ranks; asked for what stays on a rank as well.
typedef int (*plait_cost_function)(int from, int to, const plait_package* package, void* data, plait_index* cost);

/// Latency and bandwidth of a link; returns 0, or anything else to give up. Asked for different ranks only.
typedef int (*plait_link_function)(int from, int to, void* data, double* latency_seconds, double* bytes_per_second);

typedef int plait_cost_kind;
enum {
  PLAIT_COST_VOLUME = 0,  ///< bytes that leave a rank, and `transformation` for each of them that is transformed
  PLAIT_COST_NODE = 1,    ///< bytes, weighted by whether they leave the node
  PLAIT_COST_LINK = 2,    ///< nanoseconds: latency + bytes / bandwidth of each link
  PLAIT_COST_CUSTOM = 3   ///< your function
};

/// What relabeling saves. Only the members of its kind count; all zero is the volume.
typedef struct plait_cost {
  plait_cost_kind kind;
  plait_index transformation;    ///< volume: >= 0
  const int* node_of;            ///< node: of each of the `ranks` of `plait_relabel`: see `plait_context_nodes`
  plait_index in_node, network;  ///< node: of a byte; 0 <= in_node <= network
  plait_link_function link;      ///< link
  plait_cost_function function;  ///< custom
  void* data;                    ///< given to the functions
} plait_cost;

/// A pair of matrices of which it is asked what moving them costs.
typedef struct plait_sized_pair {
  plait_pair pair;
  plait_index element_bytes;
} plait_sized_pair;

/// What relabeling finds.
typedef struct plait_relabeling {
  plait_index cost_before;  ///< where every rank plays its own role
  plait_index cost_after;   ///< never more
} plait_relabeling;

/// The permutation of the target's ranks with which the packages of all pairs together cost least: rank rank_of[r] is
/// to hold what the layouts `to` give rank r. Local and deterministic: all ranks find the same from the same arguments.
///
///     plait_layout_create_relabeled(to, rank_of, ranks, &relabeled)   to plan with, among the ranks as they are
///     plait_permute(comm, rank_of, ranks, &permuted)                  the communicator in which `to` itself is true
///
/// \param ranks       of the communicator: those without a part in the layouts may play a role as well
/// \param cost        NULL: the volume
/// \param rank_of     `ranks` integers, to be filled
/// \param relabeling  what it costs; may be NULL
int plait_relabel(const plait_sized_pair* pairs, plait_index count, int ranks, const plait_cost* cost, int* rank_of,
                  plait_relabeling* relabeling);

/// The same processes in another order: rank r of the result is rank rank_of[r] of `comm`. Collective over `comm`,
/// whose error handler the result has. Free it with MPI_Comm_free.
///
/// \param count  of integers in rank_of: the size of `comm`
int plait_permute(MPI_Comm comm, const int* rank_of, plait_index count, MPI_Comm* permuted);
int plait_permute_f(MPI_Fint comm, const int* rank_of, plait_index count, MPI_Fint* permuted);

#ifdef __GNUC__
#pragma GCC visibility pop
#endif
#ifdef __cplusplus
}
#endif
