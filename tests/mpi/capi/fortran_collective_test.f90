! Collective operations of the module plait, called from Fortran on any number of ranks. What the functions do is tested
! in C; this holds the interfaces to plait.h.
module fortran_collective_functions
  use plait
  implicit none

contains

  ! The product of 2 x 2 matrices, which does not commute.
  integer(c_int) function matrix_product(n, a, b, out, data) bind(C)
    integer(c_int64_t), value :: n
    type(c_ptr), value :: a, b, out, data
    integer(c_int32_t), pointer :: left(:, :, :), right(:, :, :), result(:, :, :)
    integer(c_int64_t) :: i
    call c_f_pointer(a, left, [2_c_int64_t, 2_c_int64_t, n])
    call c_f_pointer(b, right, [2_c_int64_t, 2_c_int64_t, n])
    call c_f_pointer(out, result, [2_c_int64_t, 2_c_int64_t, n])
    do i = 1, n
      result(:, :, i) = matmul(left(:, :, i), right(:, :, i))
    end do
    matrix_product = merge(7, 0, c_associated(data))
  end function

  ! Takes what comes off the weights, whose array `data` points to.
  integer(c_int) function learn(elements, first, count, data) bind(C)
    type(c_ptr), value :: elements, data
    integer(c_int64_t), value :: first, count
    real(c_double), pointer :: gradient(:), weights(:)
    learn = merge(0, 11, c_associated(data))
    if (learn /= 0) return
    call c_f_pointer(elements, gradient, [count])
    call c_f_pointer(data, weights, [first + count])
    weights(first + 1:) = weights(first + 1:) - gradient
  end function

end module fortran_collective_functions

program fortran_collective_test
  use fortran_check
  use fortran_collective_functions
  implicit none

  integer(c_int64_t), parameter :: n = 300
  integer :: i
  type(plait_reduction) :: sum_of_reals

  call begin()
  sum_of_reals = plait_reduction(PLAIT_DOUBLE, PLAIT_SUM)
  call whole_vectors()
  call blocks()
  call own_operations()
  call in_the_background()
  call arrays_with_gaps()
  call pipelines()
  call nodes()
  call reproducible_sums()
  call finish()

contains

  integer(c_int) function last()
    last = ranks - 1
  end function

  ! 1 + 2 + ... + ranks
  real(c_double) function sum_of_ranks()
    sum_of_ranks = ranks * (ranks + 1) / 2.0_c_double
  end function

  subroutine whole_vectors()
    integer(c_int32_t) :: numbers(n)
    real(c_double) :: reals(10, n / 10)
    complex(c_float_complex) :: total(1)
    logical :: flags(3)
    real(c_double) :: largest(2, 1)
    numbers = merge([(i, i=1, int(n))], 0, rank == last())
    call succeeds(plait_broadcast(context, numbers, n, PLAIT_INT32, last()), 'broadcast')
    call expect(all(numbers == [(i, i=1, int(n))]), 'all ranks have the numbers of the last one')

    reals = rank + 1
    call succeeds(plait_reduce(context, reals, n, sum_of_reals, 0), 'reduce')
    call expect(all(abs(reals - merge(sum_of_ranks(), rank + 1.0_c_double, rank == 0)) <= 0), 'the root has the sum')
    reals = rank + 1
    call succeeds(plait_allreduce(context, reals, n, sum_of_reals), 'allreduce')
    call expect(all(abs(reals - sum_of_ranks()) <= 0), 'all have the sum')

    total = cmplx(rank + 1, 1, c_float_complex)
    call succeeds(plait_allreduce(context, total, 1_c_int64_t, plait_reduction(PLAIT_COMPLEX_FLOAT, PLAIT_SUM)), 'complex')
    call expect(abs(total(1) - cmplx(sum_of_ranks(), ranks, c_float_complex)) <= 0, 'complex numbers are added up')
    flags = [.true., rank == 0, .false.]
    call succeeds(plait_allreduce(context, flags, 3_c_int64_t, plait_reduction(PLAIT_LOGICAL, PLAIT_LAND)), 'logical')
    call expect(all(flags .eqv. [.true., ranks == 1, .false.]), 'logicals are combined')
    largest(:, 1) = [1.0_c_double, real(rank, c_double)]
    call succeeds(plait_allreduce(context, largest, 1_c_int64_t, plait_reduction(PLAIT_DOUBLE_DOUBLE, PLAIT_MAXLOC)), 'max')
    call expect(nint(largest(2, 1)) == 0, 'the first rank has the first of the largest')
    call fails(plait_allreduce(context, reals, merge(-1_c_int64_t, n, rank == last()), sum_of_reals), PLAIT_ERROR_ARGUMENT, &
      'data: has -1')
  end subroutine

  ! Rank r has blocks of r + 1 elements.
  subroutine blocks()
    integer(c_int64_t) :: counts(ranks)
    real(c_double), allocatable :: terms(:), own(:), all_of_them(:)
    integer(c_int64_t), allocatable :: sent(:), received(:)
    integer :: total, first
    counts = [(i, i=1, ranks)]
    total = int(sum(counts))
    first = rank * (rank + 1) / 2
    allocate (terms(total), own(rank + 1), all_of_them(total))
    terms = [(real(i * (rank + 1), c_double), i=1, total)]
    call succeeds(plait_reduce_scatter(context, terms, own, counts, sum_of_reals), 'reduce-scatter')
    call expect(all(abs(own - [(i * sum_of_ranks(), i=first + 1, first + rank + 1)]) <= 0), 'blocks of the sum')
    call succeeds(plait_allgather(context, own, all_of_them, counts, PLAIT_DOUBLE), 'allgather')
    call expect(all(abs(all_of_them - [(i * sum_of_ranks(), i=1, total)]) <= 0), 'all blocks')

    ! To each rank r this one sends r + 1 times its number.
    allocate (sent(total), received(ranks * (rank + 1)))
    sent = rank
    call succeeds(plait_alltoall(context, sent, counts, received, [(int(rank + 1, c_int64_t), i=1, ranks)], PLAIT_INT64), &
      'alltoall')
    call expect(all(received == [((i - 1) / (rank + 1), i=1, ranks * (rank + 1))]), 'blocks of all ranks in their order')
    call fails(plait_allgather(context, own, all_of_them, [(-1_c_int64_t, i=1, ranks)], PLAIT_DOUBLE), &
      PLAIT_ERROR_ARGUMENT, 'counts[0]: is -1')
  end subroutine

  subroutine own_operations()
    type(plait_reduction) :: product
    integer(c_int32_t) :: matrices(2, 2, n), expected(2, 2)
    integer, target :: fails_here
    product = plait_reduction(function=c_funloc(matrix_product), element_bytes=16)
    expected = matrix_of(0)
    do i = 1, ranks - 1
      expected = matmul(expected, matrix_of(i))
    end do
    matrices = spread(matrix_of(rank), 3, int(n))
    call succeeds(plait_allreduce(context, matrices, n, product), 'own operation')
    call expect(all(matrices == spread(expected, 3, int(n))), 'matrices are multiplied in the order of ranks')
    if (ranks == 1) return
    if (rank == last()) product%data = c_loc(fails_here)
    call fails(plait_allreduce(context, matrices, n, product), &
      merge(PLAIT_ERROR_ARGUMENT, PLAIT_ERROR_PEER_FAILED, rank == last()), 'function: returned 7')
  end subroutine

  function matrix_of(r) result(matrix)
    integer, intent(in) :: r
    integer(c_int32_t) :: matrix(2, 2)
    matrix = reshape([1, r, mod(r, 3), 1], [2, 2])
  end function

  subroutine in_the_background()
    real(c_double), asynchronous :: a(n), b(n), c(n * ranks), own(n)
    integer(c_int64_t), asynchronous :: d(ranks), e(ranks)
    type(c_ptr) :: requests(6)
    integer(c_int) :: done
    integer(c_int64_t) :: ones(ranks), lengths(ranks)
    ones = 1
    lengths = n
    a = 1
    b = rank
    c = rank + 1
    d = rank
    call succeeds(plait_start_allreduce(context, a, n, sum_of_reals, requests(1)), 'start allreduce')
    call succeeds(plait_start_broadcast(context, b, n, PLAIT_DOUBLE, last(), requests(2)), 'start broadcast')
    call succeeds(plait_start_reduce_scatter(context, c, own, lengths, sum_of_reals, requests(3)), 'start reduce-scatter')
    call succeeds(plait_start_alltoall(context, d, ones, e, ones, PLAIT_INT64, requests(4)), 'start alltoall')
    done = 0
    do while (done == 0)
      call succeeds(plait_request_progress(requests(1), done), 'progress')
    end do
    do i = 1, 4
      call succeeds(plait_request_wait(requests(i)), 'wait')
      call expect(.not. c_associated(requests(i)), 'a request that is over is null')
    end do
    call expect(all(nint(a) == ranks) .and. all(nint(b) == last()), 'sum and broadcast')
    call expect(all(abs(own - sum_of_ranks()) <= 0) .and. all(e == [(i, i=0, ranks - 1)]), 'blocks')
    call succeeds(plait_start_allgather(context, own, c, lengths, PLAIT_DOUBLE, requests(5)), 'start allgather')
    call succeeds(plait_start_reduce(context, a, n, sum_of_reals, 0, requests(6)), 'start reduce')
    call succeeds(plait_request_wait(requests(5)), 'wait')
    call succeeds(plait_request_wait(requests(6)), 'wait')
    call expect(all(abs(c - sum_of_ranks()) <= 0), 'all blocks')
    call expect(all(nint(a) == merge(ranks**2, ranks, rank == 0)), 'the root has the sum')
  end subroutine

  ! Of a section with gaps the compiler would pass a copy. What has none, any section or shape, goes as it is.
  subroutine arrays_with_gaps()
    real(c_double), asynchronous :: matrix(4, 6), blocks(4, ranks)
    integer(c_int64_t) :: ones(ranks)
    type(plait_stage) :: stage
    type(c_ptr) :: request, pipeline
    matrix = rank
    ones = 1
    call fails(plait_start_broadcast(context, matrix(1, :), 6_c_int64_t, PLAIT_DOUBLE, last(), request), &
      PLAIT_ERROR_ARGUMENT, 'data: is an array with gaps')
    call expect(.not. c_associated(request), 'nothing began')
    call fails(plait_start_allreduce(context, matrix(:, 1:6:2), 12_c_int64_t, sum_of_reals, request), PLAIT_ERROR_ARGUMENT, &
      'data: is an array with gaps')
    call fails(plait_start_reduce(context, matrix(:, 6:1:-1), 24_c_int64_t, sum_of_reals, 0, request), PLAIT_ERROR_ARGUMENT, &
      'data: is an array with gaps')
    if (ranks > 1) then
      call fails(plait_start_reduce_scatter(context, blocks(1, :), matrix, ones, sum_of_reals, request), PLAIT_ERROR_ARGUMENT, &
        'in: is an array with gaps')
      call fails(plait_start_allgather(context, matrix, blocks(1, :), ones, PLAIT_DOUBLE, request), PLAIT_ERROR_ARGUMENT, &
        'all: is an array with gaps')
      call fails(plait_start_alltoall(context, blocks(1, :), ones, blocks(:, 1), ones, PLAIT_DOUBLE, request), &
        PLAIT_ERROR_ARGUMENT, 'in: is an array with gaps')
      call fails(plait_start_broadcast(context, matrix(merge(1, 4, rank == last()):4, 1:2), 2_c_int64_t, PLAIT_DOUBLE, 0, &
        request), PLAIT_ERROR_ARGUMENT, 'data: is an array with gaps')
    end if
    stage = plait_stage(kind=PLAIT_STAGE_BROADCAST, root=last())
    call succeeds(plait_pipeline_create(context, 6_c_int64_t, 8_c_int64_t, [stage], 1_c_int64_t, pipeline=pipeline), &
      'pipeline')
    call fails(plait_pipeline_start(pipeline, matrix(2, :)), PLAIT_ERROR_ARGUMENT, 'data: is an array with gaps')
    call succeeds(plait_pipeline_free(pipeline), 'free')
    call expect(all(nint(matrix) == rank), 'nothing moved')

    call succeeds(plait_start_broadcast(context, matrix(:, 2:3), 8_c_int64_t, PLAIT_DOUBLE, last(), request), 'columns')
    call succeeds(plait_request_wait(request), 'wait')
    call expect(all(nint(matrix(:, 2:3)) == last()) .and. all(nint(matrix(:, [1, 4, 5, 6])) == rank), 'two columns move')
    call succeeds(plait_start_broadcast(context, matrix(3, 4), 2_c_int64_t, PLAIT_DOUBLE, last(), request), 'from there on')
    call succeeds(plait_request_wait(request), 'wait')
    call expect(all(nint(matrix(3:4, 4)) == last()) .and. all(nint(matrix(1:2, 4)) == rank), 'two elements move')
    call succeeds(plait_start_broadcast(context, matrix(:3, 1:0), 0_c_int64_t, PLAIT_DOUBLE, 0, request), 'nothing')
    call succeeds(plait_request_wait(request), 'wait')
    call succeeds(plait_broadcast(context, matrix(1, :), 6_c_int64_t, PLAIT_DOUBLE, last()), 'blocking ones may copy')
    call expect(all(nint(matrix(1, :)) == last()), 'a row moves')
  end subroutine

  subroutine pipelines()
    real(c_double) :: vector(n)
    real(c_double), target :: weights(n)
    integer(c_int), target :: group(ranks)
    type(plait_stage) :: stages(3)
    type(c_ptr) :: pipeline
    integer(c_int) :: done
    group = [(ranks - i, i=1, ranks)]
    stages(1) = plait_stage(kind=PLAIT_STAGE_REDUCE, ranks=c_loc(group), rank_count=ranks, root=0, reduction=sum_of_reals)
    stages(2) = plait_stage(kind=PLAIT_STAGE_BROADCAST, root=last())
    stages(3) = plait_stage(kind=PLAIT_STAGE_COMPUTE, compute=c_funloc(learn), data=c_loc(weights))
    call succeeds(plait_pipeline_create(context, n, 8_c_int64_t, stages, 3_c_int64_t, &
      plait_pipeline_options(segment_bytes=128), pipeline), 'pipeline')
    weights = 1000
    vector = rank + 1
    call succeeds(plait_pipeline_execute(pipeline, vector), 'execute')
    call expect(all(abs(weights - (1000 - sum_of_ranks())) <= 0), 'the sum is taken off the weights')
    vector = 1
    call succeeds(plait_pipeline_start(pipeline, vector), 'start')
    done = 0
    do while (done == 0)
      call succeeds(plait_pipeline_progress(pipeline, done), 'progress')
    end do
    call succeeds(plait_pipeline_wait(pipeline), 'wait')
    call expect(all(abs(weights - (1000 - sum_of_ranks() - ranks)) <= 0), 'and the next one')
    call succeeds(plait_pipeline_free(pipeline), 'free')

    stages(1) = plait_stage(kind=PLAIT_STAGE_ALLREDUCE, reduction=sum_of_reals)
    stages(2) = stages(3)
    if (rank == last()) stages(2)%data = c_null_ptr
    call succeeds(plait_pipeline_create(context, n, 8_c_int64_t, stages, 2_c_int64_t, pipeline=pipeline), 'pipeline')
    call fails(plait_pipeline_execute(pipeline, vector), &
      merge(PLAIT_ERROR_ARGUMENT, PLAIT_ERROR_PEER_FAILED, rank == last()), 'function: returned 11')
    call succeeds(plait_pipeline_free(pipeline), 'free')
    call fails(plait_pipeline_create(context, n, 4_c_int64_t, stages, 2_c_int64_t, pipeline=pipeline), &
      PLAIT_ERROR_ARGUMENT, 'stage 0: combine: takes elements of 8 bytes')
  end subroutine

  subroutine nodes()
    type(c_ptr) :: node, memory, address
    integer(c_int) :: its_rank, its_size
    real(c_double), pointer :: shared(:)
    real(c_double) :: own(n)
    integer(c_int64_t) :: counts(ranks)
    call succeeds(plait_node_create(context, node), 'node')
    call succeeds(plait_node_rank(node, its_rank), 'rank')
    call succeeds(plait_node_size(node, its_size), 'size')
    call expect(its_rank == rank .and. its_size == ranks, 'all ranks are on one node')
    call succeeds(plait_allocate_shared(context, 8 * n, memory, address), 'shared memory')
    call c_f_pointer(address, shared, [n])
    shared = rank + 1
    call succeeds(plait_node_allreduce(node, shared, own, n, sum_of_reals), 'allreduce')
    call expect(all(abs(own - sum_of_ranks()) <= 0), 'the sum of what lies in shared memory')
    call succeeds(plait_node_scan(node, shared, own, n, sum_of_reals), 'scan')
    call expect(all(abs(own - (rank + 1) * (rank + 2) / 2.0_c_double) <= 0), 'the sum up to this rank')
    own = 0
    call succeeds(plait_node_exscan(node, shared, own, n, sum_of_reals), 'exscan')
    call expect(all(abs(own - rank * (rank + 1) / 2.0_c_double) <= 0), 'the sum below this rank')
    call succeeds(plait_node_reduce(node, shared, own, n, sum_of_reals, last()), 'reduce')
    call expect(rank /= last() .or. all(abs(own - sum_of_ranks()) <= 0), 'the sum on the root')
    counts = n / ranks
    call succeeds(plait_node_reduce_scatter(node, shared, own, counts, sum_of_reals), 'reduce-scatter')
    call expect(all(abs(own(:counts(1)) - sum_of_ranks()) <= 0), 'a block of the sum')
    call fails(plait_node_allreduce(node, shared, own, merge(-1_c_int64_t, n, rank == last()), sum_of_reals), &
      PLAIT_ERROR_ARGUMENT, 'in: has -1 entries')
    call MPI_Barrier(MPI_COMM_WORLD, error)
    call succeeds(plait_free_shared(memory), 'free')
    call succeeds(plait_node_free(node), 'free')
  end subroutine

  subroutine reproducible_sums()
    type(c_ptr) :: summation
    real(c_double) :: addends(4), total, sums(4)
    addends = [1e30_c_double, 1.0_c_double, -1e30_c_double, real(rank, c_double)]
    call succeeds(plait_reproducible_sum(context, addends, 4_c_int64_t, PLAIT_DOUBLE, total), 'sum')
    call expect(nint(total) == ranks * (ranks + 1) / 2, 'nothing is lost')
    call succeeds(plait_summation_create(context, summation), 'summation')
    addends = merge(1e30_c_double, merge(-1e30_c_double, 1.0_c_double, rank == 1), rank == 0)
    call succeeds(plait_summation_allreduce(summation, addends, sums, 4_c_int64_t, PLAIT_DOUBLE), 'sums')
    if (ranks > 1) call expect(all(nint(sums) == ranks - 2), 'nothing is lost of arrays')
    sums = -1
    call succeeds(plait_summation_reduce(summation, addends, sums, 4_c_int64_t, PLAIT_DOUBLE, 0), 'sums on the root')
    if (ranks > 1) call expect(all(nint(sums) == merge(ranks - 2, -1, rank == 0)), 'the root alone has them')
    call fails(plait_summation_allreduce(summation, addends, sums, 4_c_int64_t, PLAIT_INT32), PLAIT_ERROR_ARGUMENT, 'type: is 2')
    call succeeds(plait_summation_free(summation), 'free')
  end subroutine

end program fortran_collective_test
