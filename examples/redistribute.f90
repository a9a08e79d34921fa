! Moves a matrix from the block-cyclic layout of ScaLAPACK into whole columns, transposed on the way:  A = 2 B^T.
!
!   build/openmpi/bin/example_redistribute_fortran               alone
!   mpirun -n 4 build/openmpi/bin/example_redistribute_fortran   on four ranks: each holds its part of both
program redistribute
  use mpi
  use plait
  implicit none

  type(c_ptr) :: context, from, to, plan
  type(plait_tile_extent) :: b_extent(1), a_extent(1)
  type(plait_tile), target :: b_tile, a_tile
  type(plait_operands) :: operands(1)
  real(c_double), allocatable, target :: b(:, :), a(:, :)
  real(c_double), target :: two = 2
  character(16) :: columns
  integer(c_int64_t) :: i, j, row, column, count, wrong
  integer :: error, rank, ranks

  call MPI_Init(error)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, error)

  write (columns, '("cols@", i0)') ranks
  call expect_success(plait_context_create(MPI_COMM_WORLD, context))
  call expect_success(plait_layout_create_block_cyclic(plait_block_cyclic(rows=600, columns=400, block_rows=32, &
    block_columns=32, grid_rows=ranks, grid_columns=1), from))
  call expect_success(plait_layout_create_from_text(trim(columns) // c_null_char, 400_c_int64_t, 600_c_int64_t, to))
  call expect_success(plait_plan_create(context, from, to, PLAIT_TRANSPOSE, plan=plan))

  call expect_success(plait_layout_tiles(from, rank, 1_c_int64_t, b_extent, count))
  call expect_success(plait_layout_tiles(to, rank, 1_c_int64_t, a_extent, count))
  allocate (b(b_extent(1)%rows, b_extent(1)%columns), a(a_extent(1)%rows, a_extent(1)%columns))
  do j = 1, b_extent(1)%columns
    do i = 1, b_extent(1)%rows
      call expect_success(plait_layout_place(from, b_extent(1)%row, b_extent(1)%column, i - 1, j - 1, row, column))
      b(i, j) = 1000.0_c_double * real(row, c_double) + real(column, c_double)
    end do
  end do

  b_tile = plait_tile(c_loc(b), b_extent(1)%rows)
  a_tile = plait_tile(c_loc(a), a_extent(1)%rows)
  operands(1) = plait_operands(type=PLAIT_DOUBLE, alpha=c_loc(two), source=c_loc(b_tile), source_count=1, &
    target=c_loc(a_tile), target_count=1)
  call expect_success(plait_execute(plan, operands, 1_c_int64_t)) ! as often as you like, on any memory

  wrong = 0
  do j = 1, a_extent(1)%columns
    do i = 1, a_extent(1)%rows
      call expect_success(plait_layout_place(to, a_extent(1)%row, a_extent(1)%column, i - 1, j - 1, row, column))
      if (abs(a(i, j) - 2 * (1000.0_c_double * real(column, c_double) + real(row, c_double))) > 0) wrong = wrong + 1
    end do
  end do
  print '("rank ", i0, " of ", i0, ": ", i0, " wrong elements")', rank, ranks, wrong

  call expect_success(plait_plan_free(plan))
  call expect_success(plait_layout_free(to))
  call expect_success(plait_layout_free(from))
  call expect_success(plait_context_free(context))
  call MPI_Finalize(error)
  if (wrong /= 0) stop 1

contains

  ! What is wrong, plait says on all ranks alike.
  subroutine expect_success(code)
    integer(c_int), intent(in) :: code
    if (code == PLAIT_SUCCESS) return
    print '(a, ": ", a)', plait_error_name(code), plait_last_error()
    call MPI_Abort(MPI_COMM_WORLD, 1, error)
  end subroutine

end program redistribute
