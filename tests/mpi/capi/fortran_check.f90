! What the tests in Fortran are written in: checks, whose failures `finish` tells all ranks, and a context of these.
module fortran_check
  use mpi
  use plait
  implicit none
  public

  integer :: failures = 0, error, rank, ranks
  type(c_ptr) :: context

contains

  subroutine begin()
    call MPI_Init(error)
    call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
    call MPI_Comm_size(MPI_COMM_WORLD, ranks, error)
    call succeeds(plait_context_create(MPI_COMM_WORLD, context), 'context')
  end subroutine

  subroutine finish()
    call succeeds(plait_context_free(context), 'free')
    call expect(.not. c_associated(context), 'a freed handle is null')
    call MPI_Allreduce(MPI_IN_PLACE, failures, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, error)
    call MPI_Finalize(error)
    if (failures /= 0) stop 1
  end subroutine

  subroutine expect(holds, what)
    logical, intent(in) :: holds
    character(*), intent(in) :: what
    if (holds) return
    failures = failures + 1
    print '("rank ", i0, " of ", i0, ": ", a, " does not hold")', rank, ranks, what
  end subroutine

  subroutine succeeds(code, what)
    integer(c_int), intent(in) :: code
    character(*), intent(in) :: what
    if (code /= PLAIT_SUCCESS) call expect(.false., what // ': ' // plait_error_name(code) // ': ' // plait_last_error())
  end subroutine

  subroutine fails(code, expected, part)
    integer(c_int), intent(in) :: code, expected
    character(*), intent(in) :: part
    call expect(code == expected, plait_error_name(code) // ' is ' // plait_error_name(expected))
    call expect(index(plait_last_error(), part) > 0, plait_last_error() // ' has ' // part)
  end subroutine

end module fortran_check
