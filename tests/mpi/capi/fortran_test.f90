! Every function of the module plait, called from Fortran on any number of ranks. What the functions do is tested in C;
! this holds the interfaces to plait.h.
module fortran_test_cost
  use plait
  implicit none

contains

  integer(c_int) function volume_of(from, to, package, data, cost) bind(C)
    integer(c_int), value :: from, to
    type(plait_package), intent(in) :: package
    type(c_ptr), value :: data
    integer(c_int64_t), intent(out) :: cost
    cost = merge(0_c_int64_t, package%bytes, from == to)
    volume_of = merge(0, 1, .not. c_associated(data))
  end function

end module fortran_test_cost

program fortran_test
  use fortran_check
  use fortran_test_cost
  implicit none

  integer(c_int64_t), parameter :: n = 20

  call begin()
  call contexts()
  call layouts()
  call plans()
  call relabelings()
  call finish()

contains

  subroutine contexts()
    integer(c_int) :: its_rank, its_size
    integer(c_int), allocatable :: node_of(:)
    call succeeds(plait_context_rank(context, its_rank), 'rank')
    call succeeds(plait_context_size(context, its_size), 'size')
    call expect(its_rank == rank .and. its_size == ranks, 'the context is of all ranks')
    allocate (node_of(ranks))
    call succeeds(plait_context_nodes(context, node_of, int(ranks, c_int64_t)), 'nodes')
    call expect(all(node_of == 0), 'all ranks are on one node')
    call fails(plait_context_rank(c_null_ptr, its_rank), PLAIT_ERROR_ARGUMENT, 'context: is NULL')
    call expect(len(plait_version()) >= 5, 'there is a version')
  end subroutine

  subroutine layouts()
    type(c_ptr) :: custom, part, relabeled, cyclic
    type(plait_tile_extent) :: tiles(4)
    integer(c_int64_t) :: count, rows, columns
    integer(c_int) :: owner, needed
    integer(c_int), target :: grid(2) = [5, 3]
    call succeeds(plait_layout_create_custom(2_c_int64_t, [0_c_int64_t, 4_c_int64_t, 10_c_int64_t], 1_c_int64_t, &
      [0_c_int64_t, 6_c_int64_t], [0, 1], PLAIT_ROW_MAJOR, custom), 'custom')
    call succeeds(plait_layout_shape(custom, rows, columns), 'shape')
    call expect(rows == 10 .and. columns == 6, 'the shape is 10 x 6')
    call succeeds(plait_layout_create_relabeled(custom, [3, 2], 2_c_int64_t, relabeled), 'relabeled')
    call succeeds(plait_layout_ranks(relabeled, needed), 'ranks')
    call succeeds(plait_layout_owner(relabeled, 9_c_int64_t, 0_c_int64_t, owner), 'owner')
    call expect(needed == 4 .and. owner == 2, 'ranks 3 and 2 hold the relabeled layout')
    call succeeds(plait_layout_create_submatrix(custom, 2_c_int64_t, 1_c_int64_t, 8_c_int64_t, 5_c_int64_t, part), 'part')
    call succeeds(plait_layout_tiles(part, 0, 4_c_int64_t, tiles, count), 'tiles')
    call expect(count == 1 .and. tiles(1)%rows == 2 .and. tiles(1)%columns == 5, 'a part of the tile is 2 x 5')
    call expect(tiles(1)%row_offset == 2 .and. tiles(1)%column_offset == 1, 'and begins at 2, 1')
    call succeeds(plait_layout_place(part, 1_c_int64_t, 0_c_int64_t, 1_c_int64_t, 4_c_int64_t, rows, columns), 'place')
    call expect(rows == 3 .and. columns == 4, 'the place is 3, 4')
    call succeeds(plait_layout_create_block_cyclic(plait_block_cyclic(rows=9, columns=9, block_rows=2, block_columns=3, &
      grid_rows=1, grid_columns=2, first_column=1, ranks=c_loc(grid)), cyclic), 'block-cyclic')
    call succeeds(plait_layout_owner(cyclic, 0_c_int64_t, 0_c_int64_t, owner), 'owner')
    call expect(owner == 3, 'the first block lies in the second column of the grid')
    call fails(plait_layout_create_from_text('rows@0' // c_null_char, n, n, part), PLAIT_ERROR_LAYOUT, 'rows@0')
    call succeeds(plait_layout_free(cyclic), 'free')
    call succeeds(plait_layout_free(relabeled), 'free')
    call succeeds(plait_layout_free(custom), 'free')
  end subroutine

  ! The layout of n x n in whole rows or columns, and this rank's tile.
  subroutine slab(kind, layout, extent, memory)
    character(*), intent(in) :: kind
    type(c_ptr), intent(out) :: layout
    type(plait_tile_extent), intent(out) :: extent(1)
    complex(c_double_complex), allocatable, intent(out) :: memory(:, :)
    character(16) :: text
    integer(c_int64_t) :: count
    write (text, '(a, "@", i0)') kind, ranks
    call succeeds(plait_layout_create_from_text(trim(text) // c_null_char, n, n, layout), text)
    call succeeds(plait_layout_tiles(layout, rank, 1_c_int64_t, extent, count), 'tiles')
    allocate (memory(extent(1)%rows, extent(1)%columns))
  end subroutine

  subroutine plans()
    type(c_ptr) :: rows, columns, plan
    type(plait_tile_extent) :: source(1), target(1)
    complex(c_double_complex), allocatable, target :: b(:, :), a(:, :)
    complex(c_double_complex), target :: alpha = (0, 2), beta = (1, 0)
    type(plait_tile), target :: b_tile, a_tile
    type(plait_operands) :: operands(1)
    type(plait_volume) :: volume
    integer(c_int64_t) :: i, j, row, column, wrong
    integer(c_int) :: done
    call slab('rows', rows, source, b)
    call slab('cols', columns, target, a)
    do j = 1, n
      do i = 1, source(1)%rows
        call succeeds(plait_layout_place(rows, source(1)%row, 0_c_int64_t, i - 1, j - 1, row, column), 'place')
        b(i, j) = cmplx(row, column, c_double_complex)
      end do
    end do
    a = (1, 1)
    b_tile = plait_tile(c_loc(b), max(1_c_int64_t, source(1)%rows), PLAIT_COLUMN_MAJOR)
    a_tile = plait_tile(c_loc(a), n, PLAIT_COLUMN_MAJOR)
    operands(1) = plait_operands(type=PLAIT_COMPLEX_DOUBLE, alpha=c_loc(alpha), beta=c_loc(beta), source=c_loc(b_tile), &
      source_count=1, target=c_loc(a_tile), target_count=1)

    call succeeds(plait_plan_create_batch(context, [plait_pair(rows, columns, PLAIT_CONJUGATE_TRANSPOSE)], &
      1_c_int64_t, plait_options(memory_budget=8192), plan), 'batch')
    call succeeds(plait_plan_volume(plan, 0_c_int64_t, volume), 'volume')
    call expect(volume%received + volume%kept == size(a), 'all of the target arrives or stays')
    call succeeds(plait_start(plan, operands, 1_c_int64_t), 'start')
    done = 0
    do while (done == 0)
      call succeeds(plait_progress(plan, done), 'progress')
    end do
    call succeeds(plait_wait(plan), 'wait')
    wrong = 0
    do j = 1, target(1)%columns
      do i = 1, n
        call succeeds(plait_layout_place(columns, 0_c_int64_t, target(1)%column, i - 1, j - 1, row, column), 'place')
        ! B(column, row) is column + i row; its conjugate times 2i is 2 row + 2i column.
        if (abs(a(i, j) - cmplx(2 * row + 1, 2 * column + 1, c_double_complex)) > 0) wrong = wrong + 1
      end do
    end do
    call expect(wrong == 0, 'no element is wrong')

    if (rank == ranks - 1) operands(1)%type = -1
    call fails(plait_execute(plan, operands, 1_c_int64_t), PLAIT_ERROR_ARGUMENT, 'type: is -1')
    call succeeds(plait_plan_free(plan), 'free')
    call fails(plait_plan_create(context, merge(c_null_ptr, rows, rank == ranks - 1), columns, PLAIT_IDENTITY, plan=plan), &
      PLAIT_ERROR_ARGUMENT, 'from: is NULL')
    call succeeds(plait_layout_free(rows), 'free')
    call succeeds(plait_layout_free(columns), 'free')
  end subroutine

  subroutine relabelings()
    type(c_ptr) :: rows, reversed
    type(plait_tile_extent) :: extent(1)
    complex(c_double_complex), allocatable :: unused(:, :)
    type(plait_relabeling) :: with_default, with_function
    integer(c_int), allocatable :: reversal(:), rank_of(:)
    type(plait_sized_pair) :: pairs(1)
    integer :: i, permuted, its_rank
    call slab('rows', rows, extent, unused)
    allocate (reversal(ranks), rank_of(ranks))
    do i = 1, ranks
      reversal(i) = ranks - i
    end do
    call succeeds(plait_layout_create_relabeled(rows, reversal, int(ranks, c_int64_t), reversed), 'relabeled')
    pairs(1) = plait_sized_pair(plait_pair(rows, reversed, PLAIT_IDENTITY), 16)
    call succeeds(plait_relabel(pairs, 1_c_int64_t, ranks, rank_of=rank_of, &
      relabeling=with_default), 'relabel')
    call expect(all(rank_of == reversal), 'the ranks are reversed')
    call succeeds(plait_relabel(pairs, 1_c_int64_t, ranks, plait_cost(kind=PLAIT_COST_CUSTOM, function=c_funloc(volume_of)), &
      rank_of, with_function), 'relabel')
    call expect(with_default%cost_before == with_function%cost_before .and. with_function%cost_after == 0, &
      'a function of one''s own counts as the default')
    call succeeds(plait_permute(MPI_COMM_WORLD, rank_of, int(ranks, c_int64_t), permuted), 'permute')
    call MPI_Comm_rank(permuted, its_rank, error)
    call expect(its_rank == ranks - 1 - rank, 'the permuted communicator is reversed')
    call MPI_Comm_free(permuted, error)
    call succeeds(plait_layout_free(reversed), 'free')
    call succeeds(plait_layout_free(rows), 'free')
  end subroutine

end program fortran_test
