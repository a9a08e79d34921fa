! A program that knows nothing of plait: as those that use CP2K's or ELPA's matrices do, it brings a matrix from the blocks
! of one library into those of another, adds, transposes and brings it back, again and again.
!
!   mpirun -n 4 build/openmpi/bin/example_scalapack_program 2000 20
!   LD_PRELOAD=$PWD/build/openmpi/lib/plait/openmpi/libplait_scalapack.so PLAIT_LOG=summary mpirun -n 4 build/openmpi/bin/example_scalapack_program 2000 20
program scalapack_program
  use, intrinsic :: iso_fortran_env, only: int64, real64
  implicit none
  integer, parameter :: small = 32, large = 128
  integer :: n, rounds, me, processes, system, flat, square, rows, columns, round
  integer :: a_desc(9), b_desc(9)
  integer(int64) :: start, finish, rate
  real(real64) :: total
  real(real64), allocatable :: a(:, :), b(:, :), c(:, :)

  n = argument(1, 400)
  rounds = argument(2, 10)
  call blacs_pinfo(me, processes)
  rows = int(sqrt(real(processes)))
  do while (mod(processes, rows) /= 0)
    rows = rows - 1
  end do
  columns = processes / rows
  call blacs_get(-1, 0, system)
  flat = system
  call blacs_gridinit(flat, 'R', 1, processes)
  square = system
  call blacs_gridinit(square, 'C', rows, columns)

  call describe(flat, small, a_desc, a)
  call describe(square, large, b_desc, b)
  allocate (c, mold=b)
  call fill(flat, small, a)

  do round = 0, rounds  ! the first is not timed
    if (round == 1) call system_clock(start, rate)
    call pdgemr2d(n, n, a, 1, 1, a_desc, b, 1, 1, b_desc, flat)                    ! B = A, in other blocks
    c = b
    call pdtran(n, n, 0.5_real64, b, 1, 1, b_desc, 0.5_real64, c, 1, 1, b_desc)    ! C = (A + A') / 2
    call pdgeadd('N', n, n, 1.0_real64, b, 1, 1, b_desc, -1.0_real64, c, 1, 1, b_desc)  ! C = A - C
    call pdgemr2d(n, n, c, 1, 1, b_desc, a, 1, 1, a_desc, flat)                    ! A = C
  end do
  call system_clock(finish)

  total = sum(a**2)
  call dgsum2d(flat, 'All', ' ', 1, 1, total, 1, -1, -1)
  if (me == 0) then
    print '(a, i0, a, i0, a, i0, a)', 'antisymmetric part of a matrix of order ', n, ' on ', processes, ' processes, ', &
      rounds, ' times'
    print '(a, es24.16)', 'sum of squares', total
    print '(a, f10.3, a)', 'time of one ', 1e3_real64 * real(finish - start, real64) / real(rate, real64) / rounds, ' ms'
  end if
  call blacs_exit(0)

contains

  integer function argument(position, usual)
    integer, intent(in) :: position, usual
    character(len=32) :: text
    argument = usual
    if (command_argument_count() < position) return
    call get_command_argument(position, text)
    read (text, *) argument
  end function argument

  subroutine describe(grid, block, desc, matrix)
    integer, intent(in) :: grid, block
    integer, intent(out) :: desc(9)
    real(real64), allocatable, intent(out) :: matrix(:, :)
    integer :: grid_rows, grid_columns, row, column, info
    integer, external :: numroc
    call blacs_gridinfo(grid, grid_rows, grid_columns, row, column)
    allocate (matrix(max(1, numroc(n, block, row, 0, grid_rows)), numroc(n, block, column, 0, grid_columns)))
    call descinit(desc, n, n, block, block, 0, 0, grid, size(matrix, 1), info)
    if (info /= 0) stop 'descinit'
  end subroutine describe

  ! A(i, j) = i + 2 j (mod 17), counted from 1.
  subroutine fill(grid, block, matrix)
    integer, intent(in) :: grid, block
    real(real64), intent(out) :: matrix(:, :)
    integer :: grid_rows, grid_columns, row, column, i, j
    integer, external :: indxl2g
    call blacs_gridinfo(grid, grid_rows, grid_columns, row, column)
    do j = 1, size(matrix, 2)
      do i = 1, size(matrix, 1)
        matrix(i, j) = mod(indxl2g(i, block, row, 0, grid_rows) + 2 * indxl2g(j, block, column, 0, grid_columns), 17)
      end do
    end do
  end subroutine fill
end program scalapack_program
