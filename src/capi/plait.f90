! The C API of plait for Fortran: the functions, types and constants of plait.h, which documents them. Compile this file
! with your program and link the shared library.
!
! Handles are of type(c_ptr), c_null_ptr when there is none. What a type points to is given by c_loc of a target.
! Arguments that are optional here may be NULL in C. Ranks, rows and columns count from 0, as in MPI. docs/c-api.md has
! whole programs.
module plait
  use, intrinsic :: iso_c_binding
  implicit none
  public

  enum, bind(C)
    enumerator :: PLAIT_SUCCESS = 0, PLAIT_ERROR_ARGUMENT, PLAIT_ERROR_SHAPE, PLAIT_ERROR_LAYOUT, PLAIT_ERROR_FILE, &
      PLAIT_ERROR_MPI, PLAIT_ERROR_PEER_FAILED, PLAIT_ERROR_OUT_OF_MEMORY, PLAIT_ERROR_OTHER, PLAIT_ERROR_NO_GAP
  end enum
  enum, bind(C)
    enumerator :: PLAIT_COLUMN_MAJOR = 0, PLAIT_ROW_MAJOR
  end enum
  enum, bind(C)
    enumerator :: PLAIT_GRID_BY_ROWS = 0, PLAIT_GRID_BY_COLUMNS
  end enum
  enum, bind(C)
    enumerator :: PLAIT_IDENTITY = 0, PLAIT_TRANSPOSE, PLAIT_CONJUGATE, PLAIT_CONJUGATE_TRANSPOSE
  end enum
  enum, bind(C)
    enumerator :: PLAIT_INT8 = 0, PLAIT_INT16, PLAIT_INT32, PLAIT_INT64, PLAIT_UINT8, PLAIT_UINT16, PLAIT_UINT32, &
      PLAIT_UINT64, PLAIT_FLOAT, PLAIT_DOUBLE, PLAIT_COMPLEX_FLOAT, PLAIT_COMPLEX_DOUBLE, PLAIT_FLOAT16, &
      PLAIT_BFLOAT16, PLAIT_LONG_DOUBLE, PLAIT_BOOL, PLAIT_LOGICAL, PLAIT_FLOAT_INT, PLAIT_DOUBLE_INT, PLAIT_LONG_INT, &
      PLAIT_SHORT_INT, PLAIT_INT_INT, PLAIT_LONG_DOUBLE_INT, PLAIT_FLOAT_FLOAT, PLAIT_DOUBLE_DOUBLE
  end enum
  enum, bind(C)
    enumerator :: PLAIT_COST_VOLUME = 0, PLAIT_COST_NODE, PLAIT_COST_LINK, PLAIT_COST_CUSTOM
  end enum

  enum, bind(C)
    enumerator :: PLAIT_OWN = 0, PLAIT_MAX, PLAIT_MIN, PLAIT_SUM, PLAIT_PROD, PLAIT_BAND, PLAIT_BOR, PLAIT_BXOR, &
      PLAIT_LAND, PLAIT_LOR, PLAIT_LXOR, PLAIT_MAXLOC, PLAIT_MINLOC, PLAIT_REPLACE, PLAIT_NO_OP, PLAIT_EXACT_SUM
  end enum

  enum, bind(C)
    enumerator :: PLAIT_STAGE_BROADCAST = 1, PLAIT_STAGE_REDUCE, PLAIT_STAGE_ALLREDUCE, PLAIT_STAGE_COMPUTE
  end enum

  enum, bind(C)
    enumerator :: PLAIT_PRODUCT_AUTO = 0, PLAIT_PRODUCT_RING, PLAIT_PRODUCT_SUMMA, PLAIT_PRODUCT_CANNON, &
      PLAIT_PRODUCT_IN_PLACE
  end enum
  enum, bind(C)
    enumerator :: PLAIT_SYMM_AUTO = 0, PLAIT_SYMM_ORIGINAL, PLAIT_SYMM_BASELINE, PLAIT_SYMM_OVERLAPPED, &
      PLAIT_SYMM_CANNON, PLAIT_SYMM_MIRRORED
  end enum
  enum, bind(C)
    enumerator :: PLAIT_VECTOR_ROWS = 0, PLAIT_VECTOR_COLUMNS, PLAIT_VECTOR_MESH
  end enum
  enum, bind(C)
    enumerator :: PLAIT_WHOLE = 0, PLAIT_LOWER, PLAIT_UPPER
  end enum
  enum, bind(C)
    enumerator :: PLAIT_PURIFICATION_AUTO = 0, PLAIT_PURIFICATION_CANONICAL, PLAIT_PURIFICATION_MCWEENY, &
      PLAIT_PURIFICATION_TC2, PLAIT_PURIFICATION_TRS4, PLAIT_PURIFICATION_HPCP, PLAIT_PURIFICATION_EIGEN
  end enum
  enum, bind(C)
    enumerator :: PLAIT_SMEARING_NONE = 0, PLAIT_SMEARING_FERMI_DIRAC, PLAIT_SMEARING_GAUSSIAN, &
      PLAIT_SMEARING_METHFESSEL_PAXTON
  end enum
  enum, bind(C)
    enumerator :: PLAIT_CONVERGED = 0, PLAIT_ITERATION_LIMIT, PLAIT_NO_SUPPORT, PLAIT_INFEASIBLE_MARGINALS, &
      PLAIT_NUMERICAL_LIMIT
  end enum

  type, bind(C) :: plait_block_cyclic
    integer(c_int64_t) :: rows = 0, columns = 0
    integer(c_int64_t) :: block_rows = 1, block_columns = 1
    integer(c_int64_t) :: grid_rows = 1, grid_columns = 1
    integer(c_int64_t) :: first_row = 0, first_column = 0
    integer(c_int) :: grid_order = PLAIT_GRID_BY_ROWS
    integer(c_int) :: first_rank = 0
    type(c_ptr) :: ranks = c_null_ptr ! of integer(c_int), row by row of the grid
    integer(c_int) :: storage = PLAIT_COLUMN_MAJOR
  end type

  type, bind(C) :: plait_tile_extent
    integer(c_int64_t) :: row = 0, column = 0
    integer(c_int64_t) :: rows = 0, columns = 0
    integer(c_int64_t) :: row_offset = 0, column_offset = 0
  end type

  type, bind(C) :: plait_pair
    type(c_ptr) :: from = c_null_ptr, to = c_null_ptr
    integer(c_int) :: op = PLAIT_IDENTITY
  end type

  type, bind(C) :: plait_options
    integer(c_int64_t) :: memory_budget = 0, chunk_bytes = 0
  end type

  type, bind(C) :: plait_volume
    integer(c_int64_t) :: sent = 0, received = 0, kept = 0
  end type

  ! plait_source_tile and plait_target_tile.
  type, bind(C) :: plait_tile
    type(c_ptr) :: data = c_null_ptr
    integer(c_int64_t) :: leading_dimension = 1
    integer(c_int) :: order = PLAIT_COLUMN_MAJOR
  end type

  type, bind(C) :: plait_operands
    integer(c_int) :: type = PLAIT_DOUBLE
    type(c_ptr) :: alpha = c_null_ptr, beta = c_null_ptr
    type(c_ptr) :: source = c_null_ptr ! of source_count plait_tile
    integer(c_int64_t) :: source_count = 0
    type(c_ptr) :: target = c_null_ptr ! of target_count plait_tile
    integer(c_int64_t) :: target_count = 0
  end type

  ! plait_reduction(PLAIT_DOUBLE, PLAIT_SUM), say.
  type, bind(C) :: plait_reduction
    integer(c_int) :: type = PLAIT_DOUBLE
    integer(c_int) :: operation = PLAIT_OWN
    type(c_funptr) :: function = c_null_funptr ! see plait_combine_function
    type(c_ptr) :: data = c_null_ptr
    integer(c_int64_t) :: element_bytes = 0
    integer(c_int) :: commutes = 0
  end type

  ! plait_stage(kind=PLAIT_STAGE_ALLREDUCE, reduction=plait_reduction(PLAIT_DOUBLE, PLAIT_SUM)), say.
  type, bind(C) :: plait_stage
    integer(c_int) :: kind = 0
    type(c_ptr) :: ranks = c_null_ptr ! of rank_count integer(c_int); null: all ranks
    integer(c_int64_t) :: rank_count = 0
    integer(c_int) :: widest = 0
    integer(c_int) :: root = 0
    type(plait_reduction) :: reduction
    type(c_funptr) :: compute = c_null_funptr ! see plait_compute_function
    type(c_ptr) :: data = c_null_ptr
  end type

  type, bind(C) :: plait_pipeline_options
    integer(c_int) :: strands = 0
    integer(c_int64_t) :: segment_bytes = 0
  end type

  type, bind(C) :: plait_package
    integer(c_int64_t) :: bytes = 0, transformed_bytes = 0
  end type

  type, bind(C) :: plait_cost
    integer(c_int) :: kind = PLAIT_COST_VOLUME
    integer(c_int64_t) :: transformation = 0
    type(c_ptr) :: node_of = c_null_ptr ! of integer(c_int)
    integer(c_int64_t) :: in_node = 0, network = 0
    type(c_funptr) :: link = c_null_funptr, function = c_null_funptr
    type(c_ptr) :: data = c_null_ptr
  end type

  type, bind(C) :: plait_sized_pair
    type(plait_pair) :: pair
    integer(c_int64_t) :: element_bytes = 8
  end type

  type, bind(C) :: plait_relabeling
    integer(c_int64_t) :: cost_before = 0, cost_after = 0
  end type

  type, bind(C) :: plait_factor
    type(c_ptr) :: layout = c_null_ptr
    integer(c_int) :: op = PLAIT_IDENTITY
  end type

  type, bind(C) :: plait_product_options
    integer(c_int) :: method = PLAIT_PRODUCT_AUTO
    integer(c_int) :: mesh_rows = 0, mesh_columns = 0, mesh_layers = 0
    integer(c_int64_t) :: memory_limit = 0, panel_terms = 0
  end type

  type, bind(C) :: plait_product_operands
    type(c_ptr) :: alpha = c_null_ptr, beta = c_null_ptr
    type(c_ptr) :: a = c_null_ptr ! of a_count plait_tile, and so on
    integer(c_int64_t) :: a_count = 0
    type(c_ptr) :: b = c_null_ptr
    integer(c_int64_t) :: b_count = 0
    type(c_ptr) :: c = c_null_ptr
    integer(c_int64_t) :: c_count = 0
  end type

  type, bind(C) :: plait_product_choice
    integer(c_int) :: method = 0
    integer(c_int) :: mesh_rows = 0, mesh_columns = 0, mesh_layers = 0
    integer(c_int64_t) :: workspace_bytes = 0, received_bytes = 0, redistributed_bytes = 0
  end type

  type, bind(C) :: plait_symm_options
    integer(c_int) :: algorithm = PLAIT_SYMM_AUTO
    integer(c_int) :: mpi_collectives = 0
    integer(c_int) :: strands = 0
    integer(c_int64_t) :: segment_bytes = 0
    integer(c_int) :: edge = 0, layers = 0, ranks_per_node = 0
  end type

  type, bind(C) :: plait_vector_options
    integer(c_int) :: strands = 0
    integer(c_int64_t) :: segment = 0
  end type

  type, bind(C) :: plait_part
    integer(c_int64_t) :: first = 0, count = 0
  end type

  type, bind(C) :: plait_purification_problem
    integer(c_int64_t) :: electrons = 0
    integer(c_int) :: electrons_per_state = 2
    integer(c_int) :: method = PLAIT_PURIFICATION_AUTO
    type(c_ptr) :: chemical_potential = c_null_ptr ! c_loc of a real(c_double)
    integer(c_int) :: gershgorin = 0
    integer(c_int64_t) :: most_iterations = 0
    integer(c_int) :: smearing = PLAIT_SMEARING_NONE
    real(c_double) :: width = 0
    type(c_ptr) :: eigenvalues = c_null_ptr ! c_loc of an array of real(c_double)
    integer(c_int) :: mixed_precision = 0
  end type

  type, bind(C) :: plait_purification_result
    integer(c_int64_t) :: iterations = 0, products = 0
    real(c_double) :: energy = 0, trace_error = 0, idempotency_error = 0, commutator_error = 0
    real(c_double) :: lowest_potential = 0, highest_potential = 0
    real(c_double) :: highest_occupied = 0, occupied_error = 0, lowest_empty = 0, empty_error = 0
    real(c_double) :: entropy = 0
  end type

  type, bind(C) :: plait_points_problem
    real(c_double) :: electrons = 0
    integer(c_int) :: electrons_per_state = 0, spins = 0
    type(c_ptr) :: weights = c_null_ptr ! c_loc of an array of real(c_double)
    integer(c_int) :: smearing = PLAIT_SMEARING_NONE
    real(c_double) :: width = 0
  end type

  type, bind(C) :: plait_points_result
    real(c_double) :: energy = 0, entropy = 0, trace_error = 0, idempotency_error = 0, commutator_error = 0
    real(c_double) :: lowest_potential = 0, highest_potential = 0, highest_occupied = 0, lowest_empty = 0, direct_gap = 0
    integer(c_int64_t) :: frontier_points(2) = 0
  end type

  ! Of an array (columns, rows).
  type, bind(C) :: plait_rows
    integer(c_int) :: type = PLAIT_DOUBLE
    type(c_ptr) :: data = c_null_ptr
    integer(c_int64_t) :: rows = 0, columns = 0, leading_dimension = 1
    type(c_ptr) :: row_sums = c_null_ptr, column_sums = c_null_ptr ! of real(c_double)
  end type

  type, bind(C) :: plait_sinkhorn_options
    real(c_double) :: tolerance = 0
    integer(c_int64_t) :: most_iterations = 0
    real(c_double) :: epsilon = 0, first_epsilon = 0, rho_rows = 0, rho_columns = 0
    integer(c_int) :: is_plain = 0
  end type

  type, bind(C) :: plait_sinkhorn_result
    integer(c_int) :: status = PLAIT_CONVERGED
    integer(c_int64_t) :: iterations = 0
    real(c_double) :: error = 0, cost = 0, mass = 0, primal = 0, dual = 0
  end type

  abstract interface
    ! out(i) = a(i) op b(i), of n elements each, which c_f_pointer makes arrays of; 0, if that succeeds.
    integer(c_int) function plait_combine_function(n, a, b, out, data) bind(C)
      import :: c_int, c_int64_t, c_ptr
      integer(c_int64_t), value :: n
      type(c_ptr), value :: a, b, out, data
    end function
    ! Computes with count elements; first counts from 0. 0, if that succeeds.
    integer(c_int) function plait_compute_function(elements, first, count, data) bind(C)
      import :: c_int, c_int64_t, c_ptr
      type(c_ptr), value :: elements, data
      integer(c_int64_t), value :: first, count
    end function
  end interface

  interface
    integer(c_int) function plait_context_create(comm, context) bind(C, name="plait_context_create_f")
      import :: c_int, c_ptr
      integer(c_int), value :: comm ! an integer handle, or the MPI_VAL of mpi_f08
      type(c_ptr), intent(out) :: context
    end function
    integer(c_int) function plait_context_free(context) bind(C)
      import :: c_int, c_ptr
      type(c_ptr), intent(inout) :: context
    end function
    integer(c_int) function plait_context_rank(context, rank) bind(C)
      import :: c_int, c_ptr
      type(c_ptr), value :: context
      integer(c_int), intent(out) :: rank
    end function
    integer(c_int) function plait_context_size(context, size) bind(C)
      import :: c_int, c_ptr
      type(c_ptr), value :: context
      integer(c_int), intent(out) :: size
    end function
    integer(c_int) function plait_context_nodes(context, node_of, count) bind(C)
      import :: c_int, c_int64_t, c_ptr
      type(c_ptr), value :: context
      integer(c_int), intent(out) :: node_of(*)
      integer(c_int64_t), value :: count
    end function

    integer(c_int) function plait_layout_create_block_cyclic(description, layout) bind(C)
      import :: c_int, c_ptr, plait_block_cyclic
      type(plait_block_cyclic), intent(in) :: description
      type(c_ptr), intent(out) :: layout
    end function
    integer(c_int) function plait_layout_create_custom(row_tiles, row_splits, column_tiles, column_splits, owners, &
        storage, layout) bind(C)
      import :: c_int, c_int64_t, c_ptr
      integer(c_int64_t), value :: row_tiles, column_tiles
      integer(c_int64_t), intent(in) :: row_splits(*), column_splits(*)
      integer(c_int), intent(in) :: owners(*) ! those of the first row of tiles first
      integer(c_int), value :: storage
      type(c_ptr), intent(out) :: layout
    end function
    ! The text ends with c_null_char.
    integer(c_int) function plait_layout_create_from_text(text, rows, columns, layout) bind(C)
      import :: c_char, c_int, c_int64_t, c_ptr
      character(kind=c_char), intent(in) :: text(*)
      integer(c_int64_t), value :: rows, columns
      type(c_ptr), intent(out) :: layout
    end function
    integer(c_int) function plait_layout_create_submatrix(whole, row, column, rows, columns, layout) bind(C)
      import :: c_int, c_int64_t, c_ptr
      type(c_ptr), value :: whole
      integer(c_int64_t), value :: row, column, rows, columns
      type(c_ptr), intent(out) :: layout
    end function
    integer(c_int) function plait_layout_create_relabeled(original, rank_of, count, layout) bind(C)
      import :: c_int, c_int64_t, c_ptr
      type(c_ptr), value :: original
      integer(c_int), intent(in) :: rank_of(*)
      integer(c_int64_t), value :: count
      type(c_ptr), intent(out) :: layout
    end function
    integer(c_int) function plait_layout_free(layout) bind(C)
      import :: c_int, c_ptr
      type(c_ptr), intent(inout) :: layout
    end function
    integer(c_int) function plait_layout_shape(layout, rows, columns) bind(C)
      import :: c_int, c_int64_t, c_ptr
      type(c_ptr), value :: layout
      integer(c_int64_t), intent(out) :: rows, columns
    end function
    integer(c_int) function plait_layout_ranks(layout, ranks) bind(C)
      import :: c_int, c_ptr
      type(c_ptr), value :: layout
      integer(c_int), intent(out) :: ranks
    end function
    integer(c_int) function plait_layout_owner(layout, row, column, rank) bind(C)
      import :: c_int, c_int64_t, c_ptr
      type(c_ptr), value :: layout
      integer(c_int64_t), value :: row, column
      integer(c_int), intent(out) :: rank
    end function
    integer(c_int) function plait_layout_tiles(layout, rank, capacity, tiles, count) bind(C)
      import :: c_int, c_int64_t, c_ptr, plait_tile_extent
      type(c_ptr), value :: layout
      integer(c_int), value :: rank
      integer(c_int64_t), value :: capacity
      type(plait_tile_extent), intent(inout) :: tiles(*)
      integer(c_int64_t), intent(out) :: count
    end function
    integer(c_int) function plait_layout_place(layout, tile_row, tile_column, local_row, local_column, row, column) &
        bind(C)
      import :: c_int, c_int64_t, c_ptr
      type(c_ptr), value :: layout
      integer(c_int64_t), value :: tile_row, tile_column, local_row, local_column
      integer(c_int64_t), intent(out) :: row, column
    end function

    integer(c_int) function plait_plan_create(context, from, to, op, options, plan) bind(C)
      import :: c_int, c_ptr, plait_options
      type(c_ptr), value :: context, from, to
      integer(c_int), value :: op
      type(plait_options), intent(in), optional :: options
      type(c_ptr), intent(out) :: plan
    end function
    integer(c_int) function plait_plan_create_batch(context, pairs, count, options, plan) bind(C)
      import :: c_int, c_int64_t, c_ptr, plait_options, plait_pair
      type(c_ptr), value :: context
      type(plait_pair), intent(in) :: pairs(*)
      integer(c_int64_t), value :: count
      type(plait_options), intent(in), optional :: options
      type(c_ptr), intent(out) :: plan
    end function
    integer(c_int) function plait_plan_free(plan) bind(C)
      import :: c_int, c_ptr
      type(c_ptr), intent(inout) :: plan
    end function
    integer(c_int) function plait_plan_volume(plan, pair, volume) bind(C)
      import :: c_int, c_int64_t, c_ptr, plait_volume
      type(c_ptr), value :: plan
      integer(c_int64_t), value :: pair
      type(plait_volume), intent(out) :: volume
    end function
    integer(c_int) function plait_execute(plan, operands, count) bind(C)
      import :: c_int, c_int64_t, c_ptr, plait_operands
      type(c_ptr), value :: plan
      type(plait_operands), intent(in) :: operands(*)
      integer(c_int64_t), value :: count
    end function
    integer(c_int) function plait_start(plan, operands, count) bind(C)
      import :: c_int, c_int64_t, c_ptr, plait_operands
      type(c_ptr), value :: plan
      type(plait_operands), intent(in) :: operands(*)
      integer(c_int64_t), value :: count
    end function
    integer(c_int) function plait_progress(plan, done) bind(C)
      import :: c_int, c_ptr
      type(c_ptr), value :: plan
      integer(c_int), intent(out), optional :: done
    end function
    integer(c_int) function plait_wait(plan) bind(C)
      import :: c_int, c_ptr
      type(c_ptr), value :: plan
    end function

    integer(c_int) function plait_relabel(pairs, count, ranks, cost, rank_of, relabeling) bind(C)
      import :: c_int, c_int64_t, plait_cost, plait_relabeling, plait_sized_pair
      type(plait_sized_pair), intent(in) :: pairs(*)
      integer(c_int64_t), value :: count
      integer(c_int), value :: ranks
      type(plait_cost), intent(in), optional :: cost
      integer(c_int), intent(inout) :: rank_of(*)
      type(plait_relabeling), intent(out), optional :: relabeling
    end function
    integer(c_int) function plait_permute(comm, rank_of, count, permuted) bind(C, name="plait_permute_f")
      import :: c_int, c_int64_t
      integer(c_int), value :: comm
      integer(c_int), intent(in) :: rank_of(*)
      integer(c_int64_t), value :: count
      integer(c_int), intent(out) :: permuted
    end function

    ! Collective operations: arrays of any type and rank. Those that begin an operation are below.
    integer(c_int) function plait_broadcast(context, data, count, type, root) bind(C)
      import :: c_int, c_int64_t, c_ptr
      type(c_ptr), value :: context
      type(*), intent(inout) :: data(*)
      integer(c_int64_t), value :: count
      integer(c_int), value :: type, root
    end function
    integer(c_int) function plait_reduce(context, data, count, reduction, root) bind(C)
      import :: c_int, c_int64_t, c_ptr, plait_reduction
      type(c_ptr), value :: context
      type(*), intent(inout) :: data(*)
      integer(c_int64_t), value :: count
      type(plait_reduction), intent(in) :: reduction
      integer(c_int), value :: root
    end function
    integer(c_int) function plait_allreduce(context, data, count, reduction) bind(C)
      import :: c_int, c_int64_t, c_ptr, plait_reduction
      type(c_ptr), value :: context
      type(*), intent(inout) :: data(*)
      integer(c_int64_t), value :: count
      type(plait_reduction), intent(in) :: reduction
    end function
    integer(c_int) function plait_reduce_scatter(context, in, out, counts, reduction) bind(C)
      import :: c_int, c_int64_t, c_ptr, plait_reduction
      type(c_ptr), value :: context
      type(*), intent(in) :: in(*)
      type(*), intent(inout) :: out(*)
      integer(c_int64_t), intent(in) :: counts(*)
      type(plait_reduction), intent(in) :: reduction
    end function
    integer(c_int) function plait_allgather(context, own, all, counts, type) bind(C)
      import :: c_int, c_int64_t, c_ptr
      type(c_ptr), value :: context
      type(*), intent(in) :: own(*)
      type(*), intent(inout) :: all(*)
      integer(c_int64_t), intent(in) :: counts(*)
      integer(c_int), value :: type
    end function
    integer(c_int) function plait_alltoall(context, in, send_counts, out, receive_counts, type) bind(C)
      import :: c_int, c_int64_t, c_ptr
      type(c_ptr), value :: context
      type(*), intent(in) :: in(*)
      integer(c_int64_t), intent(in) :: send_counts(*)
      type(*), intent(inout) :: out(*)
      integer(c_int64_t), intent(in) :: receive_counts(*)
      integer(c_int), value :: type
    end function
    integer(c_int) function plait_request_progress(request, done) bind(C)
      import :: c_int, c_ptr
      type(c_ptr), value :: request
      integer(c_int), intent(out), optional :: done
    end function
    integer(c_int) function plait_request_wait(request) bind(C)
      import :: c_int, c_ptr
      type(c_ptr), intent(inout) :: request
    end function

    integer(c_int) function plait_pipeline_create(context, elements, element_bytes, stages, stage_count, options, &
        pipeline) bind(C)
      import :: c_int, c_int64_t, c_ptr, plait_pipeline_options, plait_stage
      type(c_ptr), value :: context
      integer(c_int64_t), value :: elements, element_bytes
      type(plait_stage), intent(in) :: stages(*)
      integer(c_int64_t), value :: stage_count
      type(plait_pipeline_options), intent(in), optional :: options
      type(c_ptr), intent(out) :: pipeline
    end function
    integer(c_int) function plait_pipeline_free(pipeline) bind(C)
      import :: c_int, c_ptr
      type(c_ptr), intent(inout) :: pipeline
    end function
    integer(c_int) function plait_pipeline_execute(pipeline, data) bind(C)
      import :: c_int, c_ptr
      type(c_ptr), value :: pipeline
      type(*), intent(inout) :: data(*)
    end function
    integer(c_int) function plait_pipeline_progress(pipeline, done) bind(C)
      import :: c_int, c_ptr
      type(c_ptr), value :: pipeline
      integer(c_int), intent(out), optional :: done
    end function
    integer(c_int) function plait_pipeline_wait(pipeline) bind(C)
      import :: c_int, c_ptr
      type(c_ptr), value :: pipeline
    end function

    ! The memory becomes an array by c_f_pointer(address, array, [...]).
    integer(c_int) function plait_allocate_shared(context, bytes, memory, address) bind(C)
      import :: c_int, c_int64_t, c_ptr
      type(c_ptr), value :: context
      integer(c_int64_t), value :: bytes
      type(c_ptr), intent(out) :: memory, address
    end function
    integer(c_int) function plait_free_shared(memory) bind(C)
      import :: c_int, c_ptr
      type(c_ptr), intent(inout) :: memory
    end function
    integer(c_int) function plait_node_create(context, node) bind(C)
      import :: c_int, c_ptr
      type(c_ptr), value :: context
      type(c_ptr), intent(out) :: node
    end function
    integer(c_int) function plait_node_free(node) bind(C)
      import :: c_int, c_ptr
      type(c_ptr), intent(inout) :: node
    end function
    integer(c_int) function plait_node_rank(node, rank) bind(C)
      import :: c_int, c_ptr
      type(c_ptr), value :: node
      integer(c_int), intent(out) :: rank
    end function
    integer(c_int) function plait_node_size(node, size) bind(C)
      import :: c_int, c_ptr
      type(c_ptr), value :: node
      integer(c_int), intent(out) :: size
    end function
    integer(c_int) function plait_node_allreduce(node, in, out, count, reduction) bind(C)
      import :: c_int, c_int64_t, c_ptr, plait_reduction
      type(c_ptr), value :: node
      type(*), intent(in) :: in(*)
      type(*), intent(inout) :: out(*)
      integer(c_int64_t), value :: count
      type(plait_reduction), intent(in) :: reduction
    end function
    integer(c_int) function plait_node_reduce(node, in, out, count, reduction, root) bind(C)
      import :: c_int, c_int64_t, c_ptr, plait_reduction
      type(c_ptr), value :: node
      type(*), intent(in) :: in(*)
      type(*), intent(inout) :: out(*)
      integer(c_int64_t), value :: count
      type(plait_reduction), intent(in) :: reduction
      integer(c_int), value :: root
    end function
    integer(c_int) function plait_node_reduce_scatter(node, in, out, counts, reduction) bind(C)
      import :: c_int, c_int64_t, c_ptr, plait_reduction
      type(c_ptr), value :: node
      type(*), intent(in) :: in(*)
      type(*), intent(inout) :: out(*)
      integer(c_int64_t), intent(in) :: counts(*)
      type(plait_reduction), intent(in) :: reduction
    end function
    integer(c_int) function plait_node_scan(node, in, out, count, reduction) bind(C)
      import :: c_int, c_int64_t, c_ptr, plait_reduction
      type(c_ptr), value :: node
      type(*), intent(in) :: in(*)
      type(*), intent(inout) :: out(*)
      integer(c_int64_t), value :: count
      type(plait_reduction), intent(in) :: reduction
    end function
    integer(c_int) function plait_node_exscan(node, in, out, count, reduction) bind(C)
      import :: c_int, c_int64_t, c_ptr, plait_reduction
      type(c_ptr), value :: node
      type(*), intent(in) :: in(*)
      type(*), intent(inout) :: out(*)
      integer(c_int64_t), value :: count
      type(plait_reduction), intent(in) :: reduction
    end function

    integer(c_int) function plait_reproducible_sum(context, addends, count, type, result) bind(C)
      import :: c_int, c_int64_t, c_ptr
      type(c_ptr), value :: context
      type(*), intent(in) :: addends(*)
      integer(c_int64_t), value :: count
      integer(c_int), value :: type
      type(*), intent(inout) :: result
    end function
    integer(c_int) function plait_summation_create(context, summation) bind(C)
      import :: c_int, c_ptr
      type(c_ptr), value :: context
      type(c_ptr), intent(out) :: summation
    end function
    integer(c_int) function plait_summation_free(summation) bind(C)
      import :: c_int, c_ptr
      type(c_ptr), intent(inout) :: summation
    end function
    integer(c_int) function plait_summation_allreduce(summation, in, out, count, type) bind(C)
      import :: c_int, c_int64_t, c_ptr
      type(c_ptr), value :: summation
      type(*), intent(in) :: in(*)
      type(*), intent(inout) :: out(*)
      integer(c_int64_t), value :: count
      integer(c_int), value :: type
    end function
    integer(c_int) function plait_summation_reduce(summation, in, out, count, type, root) bind(C)
      import :: c_int, c_int64_t, c_ptr
      type(c_ptr), value :: summation
      type(*), intent(in) :: in(*)
      type(*), intent(inout) :: out(*)
      integer(c_int64_t), value :: count
      integer(c_int), value :: type, root
    end function

    integer(c_int) function plait_product_create(context, type, a, b, c, options, product) bind(C)
      import :: c_int, c_ptr, plait_factor, plait_product_options
      type(c_ptr), value :: context, c
      integer(c_int), value :: type
      type(plait_factor), intent(in) :: a, b
      type(plait_product_options), intent(in), optional :: options
      type(c_ptr), intent(out) :: product
    end function
    integer(c_int) function plait_product_free(product) bind(C)
      import :: c_int, c_ptr
      type(c_ptr), intent(inout) :: product
    end function
    integer(c_int) function plait_product_execute(product, operands) bind(C)
      import :: c_int, c_ptr, plait_product_operands
      type(c_ptr), value :: product
      type(plait_product_operands), intent(in) :: operands
    end function
    integer(c_int) function plait_product_choice_of(product, choice) bind(C)
      import :: c_int, c_ptr, plait_product_choice
      type(c_ptr), value :: product
      type(plait_product_choice), intent(out) :: choice
    end function
    integer(c_int) function plait_symm_create(context, type, n, options, symm) bind(C)
      import :: c_int, c_int64_t, c_ptr, plait_symm_options
      type(c_ptr), value :: context
      integer(c_int), value :: type
      integer(c_int64_t), value :: n
      type(plait_symm_options), intent(in), optional :: options
      type(c_ptr), intent(out) :: symm
    end function
    integer(c_int) function plait_symm_free(symm) bind(C)
      import :: c_int, c_ptr
      type(c_ptr), intent(inout) :: symm
    end function
    integer(c_int) function plait_symm_layout(symm, layout) bind(C)
      import :: c_int, c_ptr
      type(c_ptr), value :: symm
      type(c_ptr), intent(out) :: layout
    end function
    integer(c_int) function plait_symm_square(symm, d, d2) bind(C)
      import :: c_int, c_ptr, plait_tile
      type(c_ptr), value :: symm
      type(plait_tile), intent(in), optional :: d, d2
    end function
    integer(c_int) function plait_symm_square_cube(symm, d, d2, d3) bind(C)
      import :: c_int, c_ptr, plait_tile
      type(c_ptr), value :: symm
      type(plait_tile), intent(in), optional :: d, d2, d3
    end function
    integer(c_int) function plait_matrix_vector_create(context, type, rows, columns, method, options, product) bind(C)
      import :: c_int, c_int64_t, c_ptr, plait_vector_options
      type(c_ptr), value :: context
      integer(c_int), value :: type, method
      integer(c_int64_t), value :: rows, columns
      type(plait_vector_options), intent(in), optional :: options
      type(c_ptr), intent(out) :: product
    end function
    integer(c_int) function plait_matrix_vector_free(product) bind(C)
      import :: c_int, c_ptr
      type(c_ptr), intent(inout) :: product
    end function
    integer(c_int) function plait_matrix_vector_layout(product, layout) bind(C)
      import :: c_int, c_ptr
      type(c_ptr), value :: product
      type(c_ptr), intent(out) :: layout
    end function
    integer(c_int) function plait_matrix_vector_parts(product, x, y) bind(C)
      import :: c_int, c_ptr, plait_part
      type(c_ptr), value :: product
      type(plait_part), intent(out) :: x, y
    end function
    integer(c_int) function plait_matrix_vector_execute(product, a, x, y) bind(C)
      import :: c_int, c_ptr, plait_tile
      type(c_ptr), value :: product
      type(plait_tile), intent(in), optional :: a
      type(*), intent(in) :: x(*)
      type(*), intent(inout) :: y(*)
    end function

    ! s is c_null_ptr where the basis is orthonormal.
    integer(c_int) function plait_purification_create(context, type, h, s, d, triangle, purification) bind(C)
      import :: c_int, c_ptr
      type(c_ptr), value :: context, h, s, d
      integer(c_int), value :: type, triangle
      type(c_ptr), intent(out) :: purification
    end function
    integer(c_int) function plait_purification_free(purification) bind(C)
      import :: c_int, c_ptr
      type(c_ptr), intent(inout) :: purification
    end function
    integer(c_int) function plait_purification_set_overlap(purification, s, s_count) bind(C)
      import :: c_int, c_int64_t, c_ptr, plait_tile
      type(c_ptr), value :: purification
      type(plait_tile), intent(in) :: s(*)
      integer(c_int64_t), value :: s_count
    end function
    integer(c_int) function plait_purification_execute(purification, problem, h, h_count, d, d_count, result) bind(C)
      import :: c_int, c_int64_t, c_ptr, plait_purification_problem, plait_purification_result, plait_tile
      type(c_ptr), value :: purification
      type(plait_purification_problem), intent(in) :: problem
      type(plait_tile), intent(in) :: h(*), d(*)
      integer(c_int64_t), value :: h_count, d_count
      type(plait_purification_result), intent(out), optional :: result
    end function
    integer(c_int) function plait_purification_begin(purification, problem, h, h_count) bind(C)
      import :: c_int, c_int64_t, c_ptr, plait_purification_problem, plait_tile
      type(c_ptr), value :: purification
      type(plait_purification_problem), intent(in) :: problem
      type(plait_tile), intent(in) :: h(*)
      integer(c_int64_t), value :: h_count
    end function
    integer(c_int) function plait_purification_advance(purification, done, progress) bind(C)
      import :: c_int, c_ptr, plait_purification_result
      type(c_ptr), value :: purification
      integer(c_int), intent(out) :: done
      type(plait_purification_result), intent(out), optional :: progress
    end function
    integer(c_int) function plait_purification_end(purification, d, d_count, result) bind(C)
      import :: c_int, c_int64_t, c_ptr, plait_purification_result, plait_tile
      type(c_ptr), value :: purification
      type(plait_tile), intent(in) :: d(*)
      integer(c_int64_t), value :: d_count
      type(plait_purification_result), intent(out), optional :: result
    end function

    integer(c_int) function plait_points_create(context, type, triangle, states, count, points) bind(C)
      import :: c_int, c_int64_t, c_ptr
      type(c_ptr), value :: context
      integer(c_int), value :: type, triangle
      integer(c_int64_t), intent(in) :: states(*)
      integer(c_int64_t), value :: count
      type(c_ptr), intent(out) :: points
    end function
    integer(c_int) function plait_points_free(points) bind(C)
      import :: c_int, c_ptr
      type(c_ptr), intent(inout) :: points
    end function
    ! Points count from 0. s_layout is c_null_ptr where the basis is orthonormal, and s is left out then.
    integer(c_int) function plait_points_set(points, point, h_layout, h, h_count, s_layout, s, s_count) bind(C)
      import :: c_int, c_int64_t, c_ptr, plait_tile
      type(c_ptr), value :: points, h_layout, s_layout
      integer(c_int64_t), value :: point, h_count, s_count
      type(plait_tile), intent(in) :: h(*)
      type(plait_tile), intent(in), optional :: s(*)
    end function
    integer(c_int) function plait_points_fill(points, problem, result) bind(C)
      import :: c_int, c_ptr, plait_points_problem, plait_points_result
      type(c_ptr), value :: points
      type(plait_points_problem), intent(in) :: problem
      type(plait_points_result), intent(out), optional :: result
    end function
    integer(c_int) function plait_points_take(points, point, d_layout, d, d_count) bind(C)
      import :: c_int, c_int64_t, c_ptr, plait_tile
      type(c_ptr), value :: points, d_layout
      integer(c_int64_t), value :: point, d_count
      type(plait_tile), intent(in) :: d(*)
    end function
    integer(c_int) function plait_points_states(points, point, energies, occupations) bind(C)
      import :: c_double, c_int, c_int64_t, c_ptr
      type(c_ptr), value :: points
      integer(c_int64_t), value :: point
      real(c_double), intent(out), optional :: energies(*), occupations(*)
    end function

    ! Factors and potentials are of the type of the matrix.
    integer(c_int) function plait_scale(context, k, options, u, v, result) bind(C)
      import :: c_int, c_ptr, plait_rows, plait_sinkhorn_options, plait_sinkhorn_result
      type(c_ptr), value :: context
      type(plait_rows), intent(in) :: k
      type(plait_sinkhorn_options), intent(in), optional :: options
      type(*), intent(inout) :: u(*), v(*)
      type(plait_sinkhorn_result), intent(out), optional :: result
    end function
    integer(c_int) function plait_transport(context, costs, options, f, g, result) bind(C)
      import :: c_int, c_ptr, plait_rows, plait_sinkhorn_options, plait_sinkhorn_result
      type(c_ptr), value :: context
      type(plait_rows), intent(in) :: costs
      type(plait_sinkhorn_options), intent(in) :: options
      type(*), intent(inout) :: f(*), g(*)
      type(plait_sinkhorn_result), intent(out), optional :: result
    end function
  end interface

  private :: text_at, whole

contains

  ! Where an array lies. One that has gaps is refused: the compiler would pass a copy of it, which is gone too early.
  type(c_ptr) function whole(array)
    interface
      type(c_ptr) function array_with_gaps() bind(C, name="plait_array_with_gaps")
        import :: c_ptr
      end function
    end interface
    type(*), target, asynchronous, intent(in) :: array(..)
    if (is_contiguous(array) .or. size(array) == 0) then
      whole = c_loc(array)
    else
      whole = array_with_gaps()
    end if
  end function

  ! The array stays as it is until plait_request_wait: it is a target or asynchronous, and no expression.
  integer(c_int) function plait_start_broadcast(context, data, count, type, root, request)
    interface
      integer(c_int) function start(context, data, count, type, root, request) &
          bind(C, name="plait_start_broadcast")
        import :: c_int, c_int64_t, c_ptr
        type(c_ptr), value :: context, data
        integer(c_int64_t), value :: count
        integer(c_int), value :: type, root
        type(c_ptr), intent(out) :: request
      end function
    end interface
    type(c_ptr), intent(in) :: context
    integer(c_int64_t), intent(in) :: count
    integer(c_int), intent(in) :: type, root
    type(c_ptr), intent(out) :: request
    type(*), target, asynchronous, intent(inout) :: data(..)
    plait_start_broadcast = start(context, whole(data), count, type, root, request)
  end function

  integer(c_int) function plait_start_reduce(context, data, count, reduction, root, request)
    interface
      integer(c_int) function start(context, data, count, reduction, root, request) &
          bind(C, name="plait_start_reduce")
        import :: c_int, c_int64_t, c_ptr, plait_reduction
        type(c_ptr), value :: context, data
        integer(c_int64_t), value :: count
        type(plait_reduction), intent(in) :: reduction
        integer(c_int), value :: root
        type(c_ptr), intent(out) :: request
      end function
    end interface
    type(c_ptr), intent(in) :: context
    integer(c_int64_t), intent(in) :: count
    type(plait_reduction), intent(in) :: reduction
    integer(c_int), intent(in) :: root
    type(c_ptr), intent(out) :: request
    type(*), target, asynchronous, intent(inout) :: data(..)
    plait_start_reduce = start(context, whole(data), count, reduction, root, request)
  end function

  integer(c_int) function plait_start_allreduce(context, data, count, reduction, request)
    interface
      integer(c_int) function start(context, data, count, reduction, request) &
          bind(C, name="plait_start_allreduce")
        import :: c_int, c_int64_t, c_ptr, plait_reduction
        type(c_ptr), value :: context, data
        integer(c_int64_t), value :: count
        type(plait_reduction), intent(in) :: reduction
        type(c_ptr), intent(out) :: request
      end function
    end interface
    type(c_ptr), intent(in) :: context
    integer(c_int64_t), intent(in) :: count
    type(plait_reduction), intent(in) :: reduction
    type(c_ptr), intent(out) :: request
    type(*), target, asynchronous, intent(inout) :: data(..)
    plait_start_allreduce = start(context, whole(data), count, reduction, request)
  end function

  integer(c_int) function plait_start_reduce_scatter(context, in, out, counts, reduction, request)
    interface
      integer(c_int) function start(context, in, out, counts, reduction, request) &
          bind(C, name="plait_start_reduce_scatter")
        import :: c_int, c_int64_t, c_ptr, plait_reduction
        type(c_ptr), value :: context, in, out
        integer(c_int64_t), intent(in) :: counts(*)
        type(plait_reduction), intent(in) :: reduction
        type(c_ptr), intent(out) :: request
      end function
    end interface
    type(c_ptr), intent(in) :: context
    integer(c_int64_t), intent(in) :: counts(*)
    type(plait_reduction), intent(in) :: reduction
    type(c_ptr), intent(out) :: request
    type(*), target, asynchronous, intent(in) :: in(..)
    type(*), target, asynchronous, intent(inout) :: out(..)
    plait_start_reduce_scatter = start(context, whole(in), whole(out), counts, reduction, request)
  end function

  integer(c_int) function plait_start_allgather(context, own, all, counts, type, request)
    interface
      integer(c_int) function start(context, own, all, counts, type, request) &
          bind(C, name="plait_start_allgather")
        import :: c_int, c_int64_t, c_ptr
        type(c_ptr), value :: context, own, all
        integer(c_int64_t), intent(in) :: counts(*)
        integer(c_int), value :: type
        type(c_ptr), intent(out) :: request
      end function
    end interface
    type(c_ptr), intent(in) :: context
    integer(c_int64_t), intent(in) :: counts(*)
    integer(c_int), intent(in) :: type
    type(c_ptr), intent(out) :: request
    type(*), target, asynchronous, intent(in) :: own(..)
    type(*), target, asynchronous, intent(inout) :: all(..)
    plait_start_allgather = start(context, whole(own), whole(all), counts, type, request)
  end function

  integer(c_int) function plait_start_alltoall(context, in, send_counts, out, receive_counts, type, request)
    interface
      integer(c_int) function start(context, in, send_counts, out, receive_counts, type, request) &
          bind(C, name="plait_start_alltoall")
        import :: c_int, c_int64_t, c_ptr
        type(c_ptr), value :: context, in, out
        integer(c_int64_t), intent(in) :: send_counts(*)
        integer(c_int64_t), intent(in) :: receive_counts(*)
        integer(c_int), value :: type
        type(c_ptr), intent(out) :: request
      end function
    end interface
    type(c_ptr), intent(in) :: context
    integer(c_int64_t), intent(in) :: send_counts(*)
    integer(c_int64_t), intent(in) :: receive_counts(*)
    integer(c_int), intent(in) :: type
    type(c_ptr), intent(out) :: request
    type(*), target, asynchronous, intent(in) :: in(..)
    type(*), target, asynchronous, intent(inout) :: out(..)
    plait_start_alltoall = start(context, whole(in), send_counts, whole(out), receive_counts, type, request)
  end function

  ! The same until plait_pipeline_wait.
  integer(c_int) function plait_pipeline_start(pipeline, data)
    interface
      integer(c_int) function start_on(pipeline, data) &
          bind(C, name="plait_pipeline_start")
        import :: c_int, c_ptr
        type(c_ptr), value :: pipeline, data
      end function
    end interface
    type(c_ptr), intent(in) :: pipeline
    type(*), target, asynchronous, intent(inout) :: data(..)
    plait_pipeline_start = start_on(pipeline, whole(data))
  end function

  function plait_last_error() result(text)
    interface
      type(c_ptr) function last_error() bind(C, name="plait_last_error")
        import :: c_ptr
      end function
    end interface
    character(:), allocatable :: text
    text = text_at(last_error())
  end function

  function plait_error_name(code) result(text)
    interface
      type(c_ptr) function error_name(of_code) bind(C, name="plait_error_name")
        import :: c_int, c_ptr
        integer(c_int), value :: of_code
      end function
    end interface
    integer(c_int), intent(in) :: code
    character(:), allocatable :: text
    text = text_at(error_name(code))
  end function

  function plait_version() result(text)
    interface
      type(c_ptr) function version() bind(C, name="plait_version")
        import :: c_ptr
      end function
    end interface
    character(:), allocatable :: text
    text = text_at(version())
  end function

  ! The characters of C that end with a null.
  function text_at(address) result(text)
    type(c_ptr), intent(in) :: address
    character(:), allocatable :: text
    integer, parameter :: longest = 4096
    character(kind=c_char), pointer :: characters(:)
    integer :: i
    call c_f_pointer(address, characters, [longest])
    text = ''
    do i = 1, longest
      if (characters(i) == c_null_char) exit
      text = text // characters(i)
    end do
  end function

end module plait
