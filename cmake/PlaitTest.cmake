# plait_add_test(NAME COMMAND ... [RANKS n] [ENVIRONMENT a=b ...] [MPI] [LARGE])
#
# A test of any kind. It runs in tests/support/job.cpp, which leaves nothing of it behind and sees to its end: CTest's own
# limits count seconds of the wall, which say little on a busy machine. RANKS, or an estimate, is what it weighs among the
# tests that run at a time. A LARGE one takes gigabytes: no two of them run at a time. Exit status 77 skips.
#
# plait_test(NAME SOURCES a.cpp ... [RANKS 1 2 5] [LIBRARIES ...] [LARGE])
#
# One GoogleTest program. Without RANKS it is a serial test; with them it is run by mpiexec once for each rank count, its
# main comes from tests/support, and the ranks agree on the verdict. Every run leaves its test cases in
# build/<preset>/tests/results/NAME[@RANKS].xml.

set(PLAIT_TEST_JOB ${PROJECT_BINARY_DIR}/tests/job)     # made by tests/support
set(PLAIT_MPIEXEC ${PROJECT_BINARY_DIR}/tests/mpiexec) # RANKS PROGRAM [ARGUMENTS], likewise
set(PLAIT_TEST_RESULTS ${PROJECT_BINARY_DIR}/tests/results)
set(PLAIT_TEST_ENVIRONMENT OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 PYTHONUNBUFFERED=1 ASAN_OPTIONS=detect_leaks=0
  UBSAN_OPTIONS=print_stacktrace=1)
# Most tests take less time than their programs take to start, so these start as fast as they can: without looking for
# networks, and without a second start for GOMP_SPINCOUNT (cli/host/node.hpp).
list(APPEND PLAIT_TEST_ENVIRONMENT OMPI_MCA_pml=ob1 GOMP_SPINCOUNT=1)
# The processors are all that MPI has to find out about a machine: no other devices, nor what plugins know of these. That is
# a fifth to a third of what starting ranks takes.
list(APPEND PLAIT_TEST_ENVIRONMENT HWLOC_PLUGINS_PATH=/nonexistent HWLOC_COMPONENTS=-linux:pci,-linux:io)
# Other tests have the cores while the ranks of one wait, so that these look around less often (tests/support/idle_ranks.c),
# which saves what they would poll away.
list(APPEND PLAIT_TEST_ENVIRONMENT PLAIT_IDLE_MICROSECONDS=50)
set(PLAIT_TEST_LIMIT_SECONDS 1800) # for what has no watchdog of its own

function(plait_add_test name)
  cmake_parse_arguments(arg "MPI;LARGE" "RANKS" "COMMAND;ENVIRONMENT" ${ARGN})
  if(NOT arg_RANKS)
    set(arg_RANKS 1)
  endif()
  add_test(NAME ${name} COMMAND ${PLAIT_TEST_JOB} --limit ${PLAIT_TEST_LIMIT_SECONDS} ${arg_COMMAND})
  # ./dev test runs tests of at most three times as many ranks as there are cores at a time, or a single one of more.
  set_tests_properties(${name} PROPERTIES
    TIMEOUT 0 ENVIRONMENT "${PLAIT_TEST_ENVIRONMENT};${arg_ENVIRONMENT}" PROCESSORS ${arg_RANKS} SKIP_RETURN_CODE 77)
  if(arg_MPI)
    set_tests_properties(${name} PROPERTIES LABELS mpi)
  endif()
  # What takes longest begins first: those that wait for each other, then those that start program after program or an
  # emulator.
  list(GET arg_COMMAND 0 program)
  if(arg_LARGE)
    set_tests_properties(${name} PROPERTIES RESOURCE_LOCK memory COST 2)
  elseif(NOT program STREQUAL PLAIT_MPIEXEC AND NOT program MATCHES "^\\$<TARGET_FILE:")
    set_tests_properties(${name} PROPERTIES COST 1)
  endif()
endfunction()

function(plait_test name)
  cmake_parse_arguments(arg "LARGE" "" "SOURCES;RANKS;LIBRARIES" ${ARGN})
  add_executable(${name} ${arg_SOURCES})
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests/bin)
  target_link_libraries(${name} PRIVATE plait plait_options GTest::gmock ${arg_LIBRARIES})
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR} ${PROJECT_SOURCE_DIR}/tests)
  target_precompile_headers(${name} REUSE_FROM plait_test_headers)
  plait_compile_quickly(${name})
  if(NOT arg_RANKS)
    target_link_libraries(${name} PRIVATE GTest::gtest_main)
    plait_add_test(${name} COMMAND $<TARGET_FILE:${name}> --gtest_output=xml:${PLAIT_TEST_RESULTS}/${name}.xml)
    return()
  endif()
  target_link_libraries(${name} PRIVATE plait_test_support)
  set(large "")
  if(arg_LARGE)
    set(large LARGE)
  endif()
  foreach(ranks IN LISTS arg_RANKS)
    plait_add_test(${name}@${ranks} MPI RANKS ${ranks} ${large} COMMAND ${PLAIT_MPIEXEC} ${ranks} $<TARGET_FILE:${name}>
      --gtest_output=xml:${PLAIT_TEST_RESULTS}/${name}@${ranks}.xml)
  endforeach()
endfunction()
