! MPI's reductions as Fortran programs call them, by mpif.h and by both modules. Knows nothing of plait.
module expectations
  implicit none
  integer, parameter :: n = 100001
  integer :: wrong = 0

contains

  subroutine expect(condition, what)
    logical, intent(in) :: condition
    character(len=*), intent(in) :: what
    if (condition) return
    wrong = wrong + 1
    write (0, '(a, a)') 'wrong: ', what
  end subroutine expect
end module expectations

subroutine reduce_by_mpif(rank, ranks)
  use expectations
  implicit none
  include 'mpif.h'
  integer, intent(in) :: rank, ranks
  integer :: error, i, counts(ranks), whole
  integer, allocatable :: numbers(:), sums(:)
  logical, allocatable :: flags(:)
  real :: pairs(2, 3), best(2, 3)
  whole = ranks * (ranks + 1) / 2
  allocate (numbers(n), sums(n), flags(n))
  numbers = rank + 1
  sums = 0
  call MPI_Allreduce(numbers, sums, n, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, error)
  call expect(error == MPI_SUCCESS .and. all(sums == whole), 'mpif.h: MPI_Allreduce')
  call MPI_Allreduce(MPI_IN_PLACE, numbers, n, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, error)
  call expect(all(numbers == whole), 'mpif.h: MPI_Allreduce in place')
  numbers = rank + 1
  if (rank == ranks - 1) then
    call MPI_Reduce(MPI_IN_PLACE, numbers, n, MPI_INTEGER, MPI_SUM, ranks - 1, MPI_COMM_WORLD, error)
    call expect(all(numbers == whole), 'mpif.h: MPI_Reduce in place')
  else
    call MPI_Reduce(numbers, sums, n, MPI_INTEGER, MPI_SUM, ranks - 1, MPI_COMM_WORLD, error)
  end if
  flags = [(mod(i, ranks) == rank, i=1, n)]
  call MPI_Allreduce(MPI_IN_PLACE, flags, n, MPI_LOGICAL, MPI_LOR, MPI_COMM_WORLD, error)
  call expect(all(flags), 'mpif.h: MPI_Allreduce of LOGICAL')
  numbers = 2
  sums = 3
  call MPI_Reduce_local(numbers, sums, n, MPI_INTEGER, MPI_PROD, error)
  call expect(all(sums == 6), 'mpif.h: MPI_Reduce_local')
  pairs(1, :) = [real :: rank, -rank, 5]
  pairs(2, :) = rank
  call MPI_Allreduce(pairs, best, 3, MPI_2REAL, MPI_MAXLOC, MPI_COMM_WORLD, error)
  call expect(all(best(2, :) == [ranks - 1, 0, 0]), 'mpif.h: MPI_MAXLOC')
  counts = [(mod(i, 2) + 1, i=1, ranks)]
  numbers = rank + 1
  call MPI_Reduce_scatter(numbers, sums, counts, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, error)
  call expect(all(sums(1:counts(rank + 1)) == whole), 'mpif.h: MPI_Reduce_scatter')
  call reduce_to_nothing(rank, ranks)
  call MPI_Reduce_local(numbers, sums, 1, MPI_REAL, MPI_BAND, error)
  call expect(error /= MPI_SUCCESS, 'mpif.h: an operation that is not defined')
end subroutine reduce_by_mpif

! Ranks that get nothing have allocated no place for it.
subroutine reduce_to_nothing(rank, ranks)
  use expectations
  implicit none
  include 'mpif.h'
  integer, intent(in) :: rank, ranks
  integer :: error, counts(ranks)
  integer, allocatable :: numbers(:), prefix(:), last(:)
  allocate (numbers(n))
  numbers = 1
  if (rank > 0) allocate (prefix(n))
  call MPI_Exscan(numbers, prefix, n, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, error)
  if (rank > 0) call expect(all(prefix == rank), 'MPI_Exscan to nothing')
  counts = 0
  counts(ranks) = n
  if (rank == ranks - 1) allocate (last(n))
  call MPI_Reduce_scatter(numbers, last, counts, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, error)
  if (rank == ranks - 1) call expect(all(last == ranks), 'MPI_Reduce_scatter to nothing')
end subroutine reduce_to_nothing

! PERSISTENT is what MPI calls it: Open MPI had it before the standard.
subroutine reduce_again_and_again(rank, ranks)
  use expectations
  implicit none
  include 'mpif.h'
  integer, intent(in) :: rank, ranks
  external :: PERSISTENT
  integer :: error, request, turn
  integer, allocatable, asynchronous :: numbers(:), sums(:)
  allocate (numbers(n), sums(n))
  call PERSISTENT(numbers, sums, n, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, request, error)
  do turn = 1, 3
    numbers = turn * (rank + 1)
    call MPI_Start(request, error)
    call MPI_Wait(request, MPI_STATUS_IGNORE, error)
    call expect(error == MPI_SUCCESS .and. all(sums == turn * (ranks * (ranks + 1) / 2)), 'a persistent MPI_Allreduce')
  end do
  call MPI_Request_free(request, error)
  call expect(request == MPI_REQUEST_NULL, 'a request that is freed')
end subroutine reduce_again_and_again

subroutine reduce_by_mpi(rank, ranks)
  use expectations
  use mpi
  implicit none
  integer, intent(in) :: rank, ranks
  integer :: error, whole, mine
  double precision, allocatable :: numbers(:), sums(:)
  complex, allocatable :: waves(:)
  whole = ranks * (ranks + 1) / 2
  allocate (numbers(n), sums(n), waves(n))
  numbers = rank + 1
  call MPI_Allreduce(numbers, sums, n, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD, error)
  call expect(error == MPI_SUCCESS .and. all(sums == whole), 'mpi: MPI_Allreduce')
  call MPI_Reduce(numbers, sums, n, MPI_REAL8, MPI_MAX, 0, MPI_COMM_WORLD, error)
  call expect(rank /= 0 .or. all(sums == ranks), 'mpi: MPI_Reduce')
  waves = (0, 1)
  call MPI_Allreduce(MPI_IN_PLACE, waves, n, MPI_COMPLEX, MPI_SUM, MPI_COMM_WORLD, error)
  call expect(all(waves == cmplx(0, ranks)), 'mpi: MPI_Allreduce of COMPLEX')
  mine = n / ranks
  call MPI_Reduce_scatter_block(numbers, sums, mine, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD, error)
  call expect(all(sums(1:mine) == whole), 'mpi: MPI_Reduce_scatter_block')
  call MPI_Scan(numbers, sums, n, MPI_DOUBLE_PRECISION, MPI_MIN, MPI_COMM_WORLD, error)
  call expect(all(sums == 1), 'mpi: MPI_Scan')
  call MPI_Exscan(MPI_IN_PLACE, numbers, n, MPI_DOUBLE_PRECISION, MPI_MAX, MPI_COMM_WORLD, error)
  call expect(rank == 0 .or. all(numbers == rank), 'mpi: MPI_Exscan')
end subroutine reduce_by_mpi

subroutine reduce_by_mpi_f08(rank, ranks)
  use expectations
  use mpi_f08
  implicit none
  integer, intent(in) :: rank, ranks
  integer :: error, whole, mine
  type(MPI_Request) :: request
  logical :: done
  double precision, allocatable, asynchronous :: numbers(:), sums(:)
  whole = ranks * (ranks + 1) / 2
  allocate (numbers(n), sums(n))
  numbers = rank + 1
  call MPI_Allreduce(numbers, sums, n, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD, error)
  call expect(error == MPI_SUCCESS .and. all(sums == whole), 'mpi_f08: MPI_Allreduce')
  call MPI_Allreduce(MPI_IN_PLACE, numbers, n, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD)
  call expect(all(numbers == whole), 'mpi_f08: MPI_Allreduce in place')
  numbers = rank + 1
  call MPI_Reduce(numbers, sums, n, MPI_DOUBLE_PRECISION, MPI_MIN, 0, MPI_COMM_WORLD)
  call expect(rank /= 0 .or. all(sums == 1), 'mpi_f08: MPI_Reduce')
  mine = n / ranks
  call MPI_Reduce_scatter_block(numbers, sums, mine, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD)
  call expect(all(sums(1:mine) == whole), 'mpi_f08: MPI_Reduce_scatter_block')
  sums = 0
  call MPI_Reduce_local(numbers, sums, n, MPI_DOUBLE_PRECISION, MPI_MAX)
  call expect(all(sums == rank + 1), 'mpi_f08: MPI_Reduce_local')
  call MPI_Scan(numbers, sums, n, MPI_DOUBLE_PRECISION, MPI_MAX, MPI_COMM_WORLD)
  call expect(all(sums == rank + 1), 'mpi_f08: MPI_Scan')
  call MPI_Iallreduce(numbers, sums, n, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD, request)
#if defined(ASKS)
  done = .false.
  do while (.not. done) ! by nothing else than asking, to which Open MPI 4.1.4 itself never says yes
    call MPI_Request_get_status(request, done, MPI_STATUS_IGNORE)
  end do
#endif
  call MPI_Wait(request, MPI_STATUS_IGNORE)
  call expect(all(sums == whole), 'mpi_f08: MPI_Iallreduce')
end subroutine reduce_by_mpi_f08

! Ranks duplicate a communicator in the background, some before and some after they reduce much on another one.
subroutine duplicate_meanwhile(rank, ranks, much, length)
  use expectations
  use mpi
  implicit none
  integer, intent(in) :: rank, ranks, length
  double precision, intent(inout) :: much(length)
  integer :: error, other, copy, request
  call MPI_Comm_dup(MPI_COMM_WORLD, other, error)
  much = 1
  if (rank == 0) call MPI_Comm_idup(MPI_COMM_WORLD, copy, request, error)
  call MPI_Allreduce(MPI_IN_PLACE, much, length, MPI_DOUBLE_PRECISION, MPI_MAX, other, error)
  call MPI_Allreduce(MPI_IN_PLACE, much, length, MPI_DOUBLE_PRECISION, MPI_SUM, other, error)
  call expect(all(much == ranks), 'MPI_Allreduce while another communicator is duplicated')
  if (rank /= 0) call MPI_Comm_idup(MPI_COMM_WORLD, copy, request, error)
  call MPI_Wait(request, MPI_STATUS_IGNORE, error)
  call MPI_Comm_free(other, error)
end subroutine duplicate_meanwhile

program reduce_fortran
  use expectations
  use mpi
  implicit none
  integer :: rank, ranks, error
  double precision, allocatable :: much(:) ! for a library that wants to see much data before it takes an interest
  call MPI_Init(error)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, error)
  call MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN, error)
  allocate (much(2200001))
  much = 1
  call MPI_Allreduce(MPI_IN_PLACE, much, size(much), MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD, error)
  call expect(all(much == ranks), 'the first MPI_Allreduce')
  call reduce_by_mpif(rank, ranks)
  call reduce_again_and_again(rank, ranks)
  call reduce_by_mpi(rank, ranks)
  call reduce_by_mpi_f08(rank, ranks)
  call duplicate_meanwhile(rank, ranks, much, size(much))
  call MPI_Finalize(error)
  if (wrong > 0) error stop 1
end program reduce_fortran
