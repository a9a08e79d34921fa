! A Fortran program that knows nothing of plait: reductions of Fortran's own types, by mpif.h and by the module.
module results
  implicit none
  integer :: checked = 0, wrong = 0
contains
  subroutine check(right, what)
    logical, intent(in) :: right
    character(*), intent(in) :: what
    checked = checked + 1
    if (right) return
    wrong = wrong + 1
    print '(a, " is wrong")', what
  end subroutine
end module

! Element i of the process of a rank.
module numbers
  implicit none
  integer, parameter :: n = 77
contains
  elemental integer function number(rank, i)
    integer, intent(in) :: rank, i
    number = mod(i * (2 * rank + 3) + 7 * rank, 11) - 5
  end function
end module

subroutine check_with_module(size, rank)
  use mpi
  use numbers, only: n, number
  use results, only: check
  implicit none
  integer, intent(in) :: size, rank
  integer :: i, from, error, request, status(MPI_STATUS_SIZE)
  integer :: mine(n), result(n), ranks(n, 0:size - 1), pairs(2, n), best(2, n)
  integer(8) :: mine8(n), result8(n)
  double precision :: double(n), double_result(n)
  complex(kind(0d0)) :: z(n), z_result(n)
  logical :: flags(n), flag_results(n)

  do from = 0, size - 1
    ranks(:, from) = number(from, [(i, i = 1, n)])
  end do
  mine = ranks(:, rank)

  call MPI_Allreduce(mine, result, n, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, error)
  call check(all_equal(result, sum(ranks, 2)), 'INTEGER SUM')
  result = mine
  call MPI_Allreduce(MPI_IN_PLACE, result, n, MPI_INTEGER, MPI_MAX, MPI_COMM_WORLD, error)
  call check(all_equal(result, maxval(ranks, 2)), 'INTEGER MAX in place')

  mine8 = mine * 2_8**40
  call MPI_Iallreduce(mine8, result8, n, MPI_INTEGER8, MPI_MIN, MPI_COMM_WORLD, request, error)
  call MPI_Wait(request, status, error)
  call check(all(result8 == minval(ranks, 2) * 2_8**40), 'INTEGER8 MIN, not blocking')

  double = mine / 2d0
  call MPI_Allreduce(double, double_result, n, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD, error)
  call check(all(double_result == sum(ranks, 2) / 2d0), 'DOUBLE PRECISION SUM')
  call MPI_Allreduce(double, double_result, n, MPI_REAL8, MPI_PROD, MPI_COMM_WORLD, error)
  call check(all(double_result == product(ranks / 2d0, 2)), 'REAL8 PROD')

  z = cmplx(mine, -mine, kind(0d0))
  call MPI_Allreduce(z, z_result, n, MPI_DOUBLE_COMPLEX, MPI_SUM, MPI_COMM_WORLD, error)
  call check(all(z_result == cmplx(sum(ranks, 2), -sum(ranks, 2), kind(0d0))), 'DOUBLE COMPLEX SUM')

  flags = mine > 0
  call MPI_Allreduce(flags, flag_results, n, MPI_LOGICAL, MPI_LAND, MPI_COMM_WORLD, error)
  call check(all(flag_results .eqv. all(ranks > 0, 2)), 'LOGICAL LAND')
  call MPI_Allreduce(flags, flag_results, n, MPI_LOGICAL, MPI_LOR, MPI_COMM_WORLD, error)
  call check(all(flag_results .eqv. any(ranks > 0, 2)), 'LOGICAL LOR')

  pairs(1, :) = mine
  pairs(2, :) = rank
  call MPI_Allreduce(pairs, best, n, MPI_2INTEGER, MPI_MAXLOC, MPI_COMM_WORLD, error)
  call check(all_equal(best(1, :), maxval(ranks, 2)) .and. all_equal(best(2, :), maxloc(ranks, 2) - 1), '2INTEGER MAXLOC')
contains
  logical function all_equal(a, b)
    integer, intent(in) :: a(:), b(:)
    all_equal = maxval(abs(a - b)) == 0
  end function
end subroutine

subroutine check_with_include(size, rank)
  use numbers, only: n, number
  use results
  implicit none
  include 'mpif.h'
  integer, intent(in) :: size, rank
  integer :: i, from, error
  real :: mine(n), result(n), expected(n)
  real :: pairs(2, n), best(2, n)

  mine = real(number(rank, [(i, i = 1, n)]))
  expected = 0
  do from = 0, size - 1
    expected = expected + real(number(from, [(i, i = 1, n)]))
  end do
  call MPI_Allreduce(mine, result, n, MPI_REAL, MPI_SUM, MPI_COMM_WORLD, error)
  call check(all(result == expected), 'REAL SUM')
  call MPI_Reduce_local(mine, result, n, MPI_REAL4, MPI_MIN, error)
  call check(all(result == min(mine, expected)), 'REAL4 MIN, local')
  pairs(1, :) = mine
  pairs(2, :) = real(rank)
  call MPI_Allreduce(pairs, best, n, MPI_2REAL, MPI_MINLOC, MPI_COMM_WORLD, error)
  call check(all(best(1, :) <= mine), '2REAL MINLOC')
end subroutine

program main
  use mpi
  use results
  implicit none
  integer :: size, rank, error, all_wrong
  call MPI_Init(error)
  call MPI_Comm_size(MPI_COMM_WORLD, size, error)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
  call check_with_module(size, rank)
  call check_with_include(size, rank)
  call MPI_Allreduce(wrong, all_wrong, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, error)
  if (rank == 0) print '("checked ", i0, ", ", i0, " wrong")', checked, all_wrong
  call MPI_Finalize(error)
  if (all_wrong /= 0) stop 1
end program
