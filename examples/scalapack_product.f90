! A program that knows nothing of plait: C = A B of order n, again and again, in the blocks that programs usually have.
!
!   mpirun -n 4 build/openmpi/bin/example_scalapack_product 2000 5
!   LD_PRELOAD=$PWD/build/openmpi/lib/plait/openmpi/libplait_scalapack.so PLAIT_LOG=summary mpirun -n 4 build/openmpi/bin/example_scalapack_product 2000 5
program scalapack_product
  use, intrinsic :: iso_fortran_env, only: int64, real64
  implicit none
  integer, parameter :: block = 64
  integer :: n, rounds, me, processes, grid, rows, columns, row, column, desc(9), info, i, j, round
  integer(int64) :: start, finish, rate
  real(real64) :: total(2)
  real(real64), allocatable :: a(:, :), b(:, :), c(:, :)
  integer, external :: numroc, indxl2g

  n = argument(1, 400)
  rounds = argument(2, 10)
  call blacs_pinfo(me, processes)
  rows = int(sqrt(real(processes)))
  do while (mod(processes, rows) /= 0)
    rows = rows - 1
  end do
  columns = processes / rows
  call blacs_get(-1, 0, grid)
  call blacs_gridinit(grid, 'R', rows, columns)
  call blacs_gridinfo(grid, rows, columns, row, column)
  allocate (a(max(1, numroc(n, block, row, 0, rows)), numroc(n, block, column, 0, columns)))
  allocate (b, c, mold=a)
  call descinit(desc, n, n, block, block, 0, 0, grid, size(a, 1), info)
  if (info /= 0) stop 'descinit'

  ! A(i, j) = i + 2 j (mod 17), B(i, j) = 3 i + j (mod 5), counted from 1.
  do j = 1, size(a, 2)
    do i = 1, size(a, 1)
      a(i, j) = mod(indxl2g(i, block, row, 0, rows) + 2 * indxl2g(j, block, column, 0, columns), 17)
      b(i, j) = mod(3 * indxl2g(i, block, row, 0, rows) + indxl2g(j, block, column, 0, columns), 5)
    end do
  end do

  do round = 0, rounds  ! the first is not timed
    if (round == 1) call system_clock(start, rate)
    call pdgemm('N', 'N', n, n, n, 1.0_real64, a, 1, 1, desc, b, 1, 1, desc, 0.0_real64, c, 1, 1, desc)
  end do
  call system_clock(finish)

  total = [sum(c), sum(c**2)]
  call dgsum2d(grid, 'All', ' ', 2, 1, total, 2, -1, -1)
  if (me == 0) then
    print '(a, i0, a, i0, a, i0, a)', 'product of matrices of order ', n, ' on ', processes, ' processes, ', rounds, ' times'
    print '(a, 2es24.16)', 'sum and sum of squares', total
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
end program scalapack_product
