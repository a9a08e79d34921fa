! Products, density matrices and scaling of the module plait, called from Fortran on any number of ranks. What the
! functions do is tested in C; this holds the interfaces to plait.h.
program fortran_solver_test
  use fortran_check
  implicit none

  integer(c_int64_t), parameter :: n = 20, one = 1
  character(16) :: rows_text, columns_text

  call begin()
  write (rows_text, '("rows@", i0)') ranks
  write (columns_text, '("cols@", i0)') ranks
  call products()
  call products_in_any_layouts()
  call symmetric_products()
  call products_with_vectors()
  call density_matrices()
  call points()
  call scaling()
  call finish()

contains

  ! An n x n layout, and the one tile that this rank has of it.
  subroutine lay_out(text, layout, extent)
    character(*), intent(in) :: text
    type(c_ptr), intent(out) :: layout
    type(plait_tile_extent), intent(out) :: extent
    type(plait_tile_extent) :: extents(1)
    integer(c_int64_t) :: count
    call succeeds(plait_layout_create_from_text(trim(text) // c_null_char, n, n, layout), 'layout')
    call succeeds(plait_layout_tiles(layout, rank, one, extents, count), 'tiles')
    extent = extents(1)
  end subroutine

  ! Row and column in the matrix of the first element of this rank, all of whose tiles are in one piece.
  function corner(layout, extent) result(place)
    type(c_ptr), intent(in) :: layout
    type(plait_tile_extent), intent(in) :: extent
    integer(c_int64_t) :: place(2)
    place = 0
    if (extent%rows * extent%columns == 0) return
    call succeeds(plait_layout_place(layout, extent%row, extent%column, 0_c_int64_t, 0_c_int64_t, place(1), place(2)), &
      'place')
  end function

  subroutine products()
    type(c_ptr) :: by_rows, by_columns, product
    type(plait_tile_extent) :: rows, columns
    real(c_float), allocatable, target :: a(:, :), c(:, :)
    real(c_float), target :: two = 2
    type(plait_tile), target :: a_tile, c_tile
    type(plait_product_operands) :: operands
    type(plait_product_choice) :: choice
    call lay_out(rows_text, by_rows, rows)
    call lay_out(columns_text, by_columns, columns)
    allocate (a(rows%rows, rows%columns), c(columns%rows, columns%columns))
    a = 1
    c = -1
    a_tile = plait_tile(c_loc(a), max(rows%rows, one))
    c_tile = plait_tile(c_loc(c), max(columns%rows, one))
    call succeeds(plait_product_create(context, PLAIT_FLOAT, plait_factor(by_rows), &
      plait_factor(by_rows, PLAIT_TRANSPOSE), by_columns, plait_product_options(method=PLAIT_PRODUCT_SUMMA), product), &
      'product')
    operands = plait_product_operands(alpha=c_loc(two), a=c_loc(a_tile), a_count=1, b=c_loc(a_tile), b_count=1, &
      c=c_loc(c_tile), c_count=1)
    call succeeds(plait_product_execute(product, operands), 'execute')
    call expect(all(nint(c) == 2 * n), 'c is 2 a a^T')
    operands%beta = c_loc(two)
    call succeeds(plait_product_execute(product, operands), 'execute')
    call expect(all(nint(c) == 6 * n), 'c is 2 a a^T + 2 c')
    call succeeds(plait_product_choice_of(product, choice), 'choice')
    call expect(choice%method == PLAIT_PRODUCT_SUMMA, 'SUMMA was chosen')
    operands%c_count = 2
    call fails(plait_product_execute(product, operands), PLAIT_ERROR_SHAPE, 'c: has 2 tiles, expected 1')
    call succeeds(plait_product_free(product), 'free')
    call fails(plait_product_create(context, PLAIT_INT8, plait_factor(by_rows), plait_factor(by_rows), by_rows, &
      product=product), PLAIT_ERROR_ARGUMENT, 'type: is 0')
    call succeeds(plait_layout_free(by_rows), 'free')
    call succeeds(plait_layout_free(by_columns), 'free')
  end subroutine

  ! The next of numbers from 0 to end - 1, the same on all ranks.
  integer function next_below(end)
    integer, intent(in) :: end
    integer(c_int64_t), save :: state = 2026
    state = mod(state * 48271, 2147483647_c_int64_t)
    next_below = int(mod(state, int(end, c_int64_t)))
  end function

  ! The next of matrices of small integers, the same on all ranks.
  function next_matrix(rows, columns) result(matrix)
    integer, intent(in) :: rows, columns
    complex(c_double_complex) :: matrix(rows, columns)
    integer :: i, j
    do j = 1, columns
      do i = 1, rows
        matrix(i, j) = cmplx(next_below(7) - 3, next_below(5) - 2, c_double_complex)
      end do
    end do
  end function

  function applied(op, matrix) result(its)
    integer(c_int), intent(in) :: op
    complex(c_double_complex), intent(in) :: matrix(:, :)
    complex(c_double_complex), allocatable :: its(:, :)
    its = matrix
    if (op == PLAIT_TRANSPOSE .or. op == PLAIT_CONJUGATE_TRANSPOSE) its = transpose(its)
    if (op == PLAIT_CONJUGATE .or. op == PLAIT_CONJUGATE_TRANSPOSE) its = conjg(its)
  end function

  ! This rank's part of a matrix, in the next of block-cyclic layouts.
  subroutine deal(matrix, layout, part)
    complex(c_double_complex), intent(in) :: matrix(:, :)
    type(c_ptr), intent(out) :: layout
    complex(c_double_complex), allocatable, intent(out) :: part(:, :)
    integer :: grid_rows, grid_columns
    grid_rows = 1 + next_below(ranks)
    grid_columns = 1 + next_below(ranks / grid_rows)
    call succeeds(plait_layout_create_block_cyclic(plait_block_cyclic(rows=size(matrix, 1), columns=size(matrix, 2), &
      block_rows=1 + next_below(4), block_columns=1 + next_below(4), grid_rows=grid_rows, grid_columns=grid_columns, &
      first_row=next_below(grid_rows), first_column=next_below(grid_columns), grid_order=next_below(2)), layout), 'layout')
    part = part_of(matrix, layout)
  end subroutine

  function part_of(matrix, layout) result(part)
    complex(c_double_complex), intent(in) :: matrix(:, :)
    type(c_ptr), intent(in) :: layout
    complex(c_double_complex), allocatable :: part(:, :)
    type(plait_tile_extent) :: extents(1)
    integer(c_int64_t) :: count, i, j, row, column
    call succeeds(plait_layout_tiles(layout, rank, one, extents, count), 'tiles')
    allocate (part(extents(1)%rows, extents(1)%columns))
    do j = 1, extents(1)%columns
      do i = 1, extents(1)%rows
        call succeeds(plait_layout_place(layout, extents(1)%row, extents(1)%column, i - 1, j - 1, row, column), 'place')
        part(i, j) = matrix(row + 1, column + 1)
      end do
    end do
  end function

  function tiles_in(layout) result(count)
    type(c_ptr), intent(in) :: layout
    integer(c_int64_t) :: count
    type(plait_tile_extent) :: extents(1)
    call succeeds(plait_layout_tiles(layout, rank, one, extents, count), 'tiles')
  end function

  subroutine products_in_any_layouts()
    type(c_ptr) :: layouts(3), product
    type(plait_tile), target :: tiles(3)
    complex(c_double_complex), allocatable :: a(:, :), b(:, :), c(:, :)
    complex(c_double_complex), allocatable, target :: own_a(:, :), own_b(:, :), own_c(:, :)
    complex(c_double_complex), target :: alpha, beta
    integer(c_int) :: op_a, op_b
    integer :: round, m, k, i
    do round = 1, 12
      op_a = next_below(4)
      op_b = next_below(4)
      m = 1 + next_below(15)
      k = next_below(15)
      a = next_matrix(m, k)
      b = next_matrix(k, 9)
      c = next_matrix(m, 9)
      if (any(op_a == [PLAIT_TRANSPOSE, PLAIT_CONJUGATE_TRANSPOSE])) a = transpose(a)
      if (any(op_b == [PLAIT_TRANSPOSE, PLAIT_CONJUGATE_TRANSPOSE])) b = transpose(b)
      alpha = cmplx(1 + next_below(3), next_below(2), c_double_complex)
      beta = next_below(3)
      call deal(a, layouts(1), own_a)
      call deal(b, layouts(2), own_b)
      call deal(c, layouts(3), own_c)
      tiles(1) = tile(own_a)
      tiles(2) = tile(own_b)
      tiles(3) = tile(own_c)
      call succeeds(plait_product_create(context, PLAIT_COMPLEX_DOUBLE, plait_factor(layouts(1), op_a), &
        plait_factor(layouts(2), op_b), layouts(3), product=product), 'product')
      do i = 1, 2
        call succeeds(plait_product_execute(product, plait_product_operands(alpha=c_loc(alpha), beta=c_loc(beta), &
          a=c_loc(tiles(1)), a_count=tiles_in(layouts(1)), b=c_loc(tiles(2)), b_count=tiles_in(layouts(2)), &
          c=c_loc(tiles(3)), c_count=tiles_in(layouts(3)))), 'execute')
        c = alpha * matmul(applied(op_a, a), applied(op_b, b)) + beta * c
        call expect(all(abs(own_c - part_of(c, layouts(3))) <= 0), 'the product')
      end do
      call succeeds(plait_product_free(product), 'free')
      do i = 1, 3
        call succeeds(plait_layout_free(layouts(i)), 'free')
      end do
    end do
  end subroutine

  subroutine symmetric_products()
    type(c_ptr) :: symm, layout
    type(plait_tile_extent) :: extents(1)
    integer(c_int64_t) :: count
    complex(c_double_complex), allocatable, target :: d(:, :), d2(:, :), d3(:, :)
    call succeeds(plait_symm_create(context, PLAIT_COMPLEX_DOUBLE, n, symm=symm), 'symm')
    call succeeds(plait_symm_layout(symm, layout), 'layout')
    call succeeds(plait_layout_tiles(layout, rank, one, extents, count), 'tiles')
    allocate (d(extents(1)%rows, extents(1)%columns))
    d = 1
    d2 = d
    d3 = d
    if (count > 0) then
      call succeeds(plait_symm_square(symm, tile(d), tile(d2)), 'square')
      call succeeds(plait_symm_square_cube(symm, tile(d), tile(d2), tile(d3)), 'cube')
    else
      call succeeds(plait_symm_square(symm), 'square')
      call succeeds(plait_symm_square_cube(symm), 'cube')
    end if
    call expect(all(nint(real(d2)) == n) .and. all(nint(real(d3)) == n**2), 'square and cube')
    call succeeds(plait_symm_free(symm), 'free')
    call succeeds(plait_layout_free(layout), 'free')
  end subroutine

  type(plait_tile) function tile(matrix)
    complex(c_double_complex), intent(in), target, contiguous :: matrix(:, :)
    tile = plait_tile(c_loc(matrix), max(size(matrix, 1), 1))
  end function

  subroutine products_with_vectors()
    type(c_ptr) :: product, layout
    type(plait_tile_extent) :: extents(1)
    type(plait_part) :: x_part, y_part
    integer(c_int64_t) :: count
    real(c_double), allocatable, target :: a(:, :)
    real(c_double) :: x(n), y(n)
    call succeeds(plait_matrix_vector_create(context, PLAIT_DOUBLE, n, n, PLAIT_VECTOR_ROWS, &
      plait_vector_options(strands=2), product), 'product')
    call succeeds(plait_matrix_vector_layout(product, layout), 'layout')
    call succeeds(plait_matrix_vector_parts(product, x_part, y_part), 'parts')
    call succeeds(plait_layout_tiles(layout, rank, one, extents, count), 'tiles')
    allocate (a(extents(1)%rows, extents(1)%columns))
    a = 1
    x = 2
    call succeeds(plait_matrix_vector_execute(product, plait_tile(c_loc(a), max(extents(1)%rows, one)), x, y), 'execute')
    call expect(all(nint(y(:y_part%count)) == 2 * n) .and. y_part%count == extents(1)%rows, 'sums of rows')
    call succeeds(plait_matrix_vector_free(product), 'free')
    call succeeds(plait_layout_free(layout), 'free')
  end subroutine

  ! The two states of each of n / 2 pairs of sites are their sum, at energy -1, and their difference.
  subroutine density_matrices()
    type(c_ptr) :: purification, by_rows, by_columns
    type(plait_tile_extent) :: rows, columns
    real(c_double), allocatable, target :: h(:, :), s(:, :), d(:, :)
    real(c_double), target :: between = 0.1_c_double, levels(n)
    type(plait_tile) :: h_tile(1), s_tile(1), d_tile(1)
    type(plait_purification_result) :: result, progress
    integer(c_int64_t) :: first(2), i, j
    integer(c_int) :: done
    call lay_out(rows_text, by_rows, rows)
    call lay_out(columns_text, by_columns, columns)
    allocate (h(rows%rows, rows%columns), s(rows%rows, rows%columns), d(columns%rows, columns%columns))
    first = corner(by_rows, rows)
    h = 0
    s = 0
    do i = 1, rows%rows
      h(i, partner(i + first(1))) = -1
      s(i, i + first(1)) = 1
    end do
    h_tile = plait_tile(c_loc(h), max(rows%rows, one))
    s_tile = plait_tile(c_loc(s), max(rows%rows, one))
    d_tile = plait_tile(c_loc(d), max(columns%rows, one))
    call succeeds(plait_purification_create(context, PLAIT_DOUBLE, by_rows, by_rows, by_columns, PLAIT_LOWER, &
      purification), 'purification')
    call succeeds(plait_purification_set_overlap(purification, s_tile, one), 'overlap')
    call succeeds(plait_purification_execute(purification, plait_purification_problem(electrons=n), h_tile, one, d_tile, &
      one, result), 'execute')
    call expect(abs(result%energy + n) < 1e-9_c_double, 'all electrons are at -1')
    call expect(abs(result%highest_occupied + 1) < 1e-6_c_double .and. abs(result%lowest_empty - 1) < 1e-6_c_double, &
      'the states at the gap')
    first = corner(by_columns, columns)
    do j = 1, columns%columns
      do i = 1, n
        call expect(abs(d(i, j) - merge(0.5_c_double, 0.0_c_double, i == j + first(2) .or. &
          i == partner(j + first(2)))) < 1e-9_c_double, 'the density of a pair')
      end do
    end do
    call succeeds(plait_purification_begin(purification, plait_purification_problem(electrons=n, &
      method=PLAIT_PURIFICATION_MCWEENY, chemical_potential=c_loc(between)), h_tile, one), 'begin')
    done = 0
    do while (done == 0)
      call succeeds(plait_purification_advance(purification, done, progress), 'advance')
    end do
    call succeeds(plait_purification_end(purification, d_tile, one, result), 'end')
    call expect(abs(progress%energy + n) < 1e-9_c_double .and. result%iterations == progress%iterations, 'McWeeny finds it, too')
    if (ranks < 4) then ! on more, ScaLAPACK may be missing
      call succeeds(plait_purification_execute(purification, plait_purification_problem(electrons=n, &
        smearing=PLAIT_SMEARING_GAUSSIAN, width=0.1_c_double, eigenvalues=c_loc(levels)), h_tile, one, d_tile, one, &
        result), 'eigenstates')
      call expect(abs(result%energy + n) < 1e-9_c_double .and. abs(result%entropy) < 1e-9_c_double, 'so do eigenstates')
      call expect(maxval(abs(levels(:n / 2) + 1)) < 1e-9_c_double .and. maxval(abs(levels(n / 2 + 1:) - 1)) < 1e-9_c_double, &
        'all eigenvalues')
    end if
    h = 0
    call fails(plait_purification_execute(purification, plait_purification_problem(electrons=n), h_tile, one, d_tile, one), &
      PLAIT_ERROR_NO_GAP, 'no gap')
    call succeeds(plait_purification_free(purification), 'free')
    call succeeds(plait_layout_free(by_rows), 'free')
    call succeeds(plait_layout_free(by_columns), 'free')
  end subroutine

  ! Two points of such pairs, those of the second one higher by a half, which counts three times as much.
  subroutine points()
    type(c_ptr) :: both, layout
    type(plait_tile_extent) :: extent
    real(c_double), allocatable, target :: a(:, :)
    real(c_double), target :: weights(2) = [1, 3]
    real(c_double) :: energies(n), occupations(n)
    type(plait_tile) :: tile(1)
    type(plait_points_result) :: result
    integer(c_int64_t) :: first(2), i, k
    call lay_out(rows_text, layout, extent)
    allocate (a(extent%rows, extent%columns))
    first = corner(layout, extent)
    tile = plait_tile(c_loc(a), max(extent%rows, one))
    call succeeds(plait_points_create(context, PLAIT_DOUBLE, PLAIT_WHOLE, [n, n], 2 * one, both), 'points')
    do k = 0, 1
      a = 0
      do i = 1, extent%rows
        a(i, partner(i + first(1))) = -1
        a(i, i + first(1)) = 0.5_c_double * k
      end do
      call succeeds(plait_points_set(both, k, layout, tile, one, c_null_ptr, s_count=0 * one), 'set')
    end do
    call succeeds(plait_points_fill(both, plait_points_problem(electrons=real(n, c_double), weights=c_loc(weights)), result), &
      'fill')
    call expect(abs(result%energy + 0.625_c_double * n) < 1e-9_c_double, 'all electrons are in the lower states')
    call expect(abs(result%highest_occupied + 0.5_c_double) < 1e-9_c_double .and. abs(result%lowest_empty - 1) < 1e-9_c_double &
      .and. abs(result%direct_gap - 2) < 1e-9_c_double .and. all(result%frontier_points == [1, 0]), 'the gap')
    call succeeds(plait_points_states(both, one, energies, occupations), 'states')
    call expect(maxval(abs(energies(:n / 2) + 0.5_c_double)) < 1e-9_c_double .and. all(occupations(:n / 2) > 0.5_c_double) &
      .and. all(occupations(n / 2 + 1:) < 0.5_c_double), 'the states of the second point')
    do k = 0, 1
      call succeeds(plait_points_take(both, k, layout, tile, one), 'take')
      do i = 1, extent%rows
        call expect(abs(a(i, i + first(1)) - 0.5_c_double) < 1e-9_c_double .and. &
          abs(a(i, partner(i + first(1))) - 0.5_c_double) < 1e-9_c_double, 'the density of a pair')
      end do
    end do
    call fails(plait_points_fill(both, plait_points_problem(electrons=-1.0_c_double), result), PLAIT_ERROR_ARGUMENT, 'electrons')
    call succeeds(plait_points_free(both), 'free')
    call succeeds(plait_layout_free(layout), 'free')
  end subroutine

  integer(c_int64_t) function partner(site)
    integer(c_int64_t), intent(in) :: site
    partner = merge(site + 1, site - 1, mod(site, 2_c_int64_t) == 1)
  end function

  ! Each rank has two rows of ones, whose columns are to have unequal sums.
  subroutine scaling()
    real(c_double), target :: k(3, 2), row_sums(2), column_sums(3)
    real(c_double) :: u(2), v(3), plan(3, 2)
    type(plait_rows) :: rows
    type(plait_sinkhorn_result) :: result
    integer :: i
    k = 1
    row_sums = 1
    column_sums = [1, 2, 3] * ranks / 3.0_c_double
    rows = plait_rows(data=c_loc(k), rows=2, columns=3, leading_dimension=3, row_sums=c_loc(row_sums), &
      column_sums=c_loc(column_sums))
    call succeeds(plait_scale(context, rows, u=u, v=v, result=result), 'scale')
    call expect(result%status == PLAIT_CONVERGED, 'it converges')
    do i = 1, 2
      call expect(all(abs(u(i) * v - [1, 2, 3] / 6.0_c_double) < 1e-9_c_double), 'rows of the plan')
    end do
    call succeeds(plait_transport(context, rows, plait_sinkhorn_options(epsilon=1.0_c_double), u, v, result), 'transport')
    do i = 1, 2
      plan(:, i) = exp(u(i) + v - k(:, i))
      call expect(all(abs(plan(:, i) - [1, 2, 3] / 6.0_c_double) < 1e-8_c_double), 'rows of the plan')
    end do
    call expect(abs(result%cost - 2 * ranks) < 1e-8_c_double, 'the cost of the plan')
    call fails(plait_transport(context, rows, plait_sinkhorn_options(), u, v), PLAIT_ERROR_ARGUMENT, 'epsilon')
  end subroutine

end program fortran_solver_test
