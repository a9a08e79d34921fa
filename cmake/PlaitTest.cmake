# plait_test(NAME SOURCES a.cpp ... [RANKS 1 2 5] [LIBRARIES ...] [TIMEOUT seconds] [LARGE])
#
# One GoogleTest program. Without RANKS it is a serial test; with them it is run by mpiexec once for each rank count, its
# main comes from tests/support, and the ranks agree on the verdict. Every run leaves its test cases in
# build/<preset>/tests/results/NAME[@RANKS].xml. A LARGE one takes gigabytes: no two of them run at a time.

set(PLAIT_MPIEXEC ${PROJECT_BINARY_DIR}/tests/mpiexec) # RANKS PROGRAM [ARGUMENTS], made by tests/support
set(PLAIT_TEST_RESULTS ${PROJECT_BINARY_DIR}/tests/results)
set(PLAIT_TEST_ENVIRONMENT OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 ASAN_OPTIONS=detect_leaks=0 UBSAN_OPTIONS=print_stacktrace=1)

# GoogleTest's templates take a third less time to compile like this; what is tested is optimised as ever.
set(PLAIT_TEST_OPTIONS $<$<CONFIG:Release>:-O1>)

function(plait_test name)
  cmake_parse_arguments(arg "LARGE" "TIMEOUT" "SOURCES;RANKS;LIBRARIES" ${ARGN})
  if(NOT arg_TIMEOUT)
    set(arg_TIMEOUT 120)
  endif()
  add_executable(${name} ${arg_SOURCES})
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests/bin)
  target_link_libraries(${name} PRIVATE plait plait_options GTest::gmock ${arg_LIBRARIES})
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR} ${PROJECT_SOURCE_DIR}/tests)
  if(TARGET plait_test_headers)
    target_precompile_headers(${name} REUSE_FROM plait_test_headers)
  endif()
  target_compile_options(${name} PRIVATE ${PLAIT_TEST_OPTIONS})
  if(NOT arg_RANKS)
    target_link_libraries(${name} PRIVATE GTest::gtest_main)
    add_test(NAME ${name} COMMAND ${name} --gtest_output=xml:${PLAIT_TEST_RESULTS}/${name}.xml)
    set_tests_properties(${name} PROPERTIES TIMEOUT ${arg_TIMEOUT} ENVIRONMENT "${PLAIT_TEST_ENVIRONMENT}")
    return()
  endif()
  target_link_libraries(${name} PRIVATE plait_test_support)
  foreach(ranks IN LISTS arg_RANKS)
    add_test(NAME ${name}@${ranks} COMMAND ${PLAIT_MPIEXEC} ${ranks} $<TARGET_FILE:${name}>
      --gtest_output=xml:${PLAIT_TEST_RESULTS}/${name}@${ranks}.xml)
    # ./dev test runs tests of at most three times as many ranks as there are cores at a time, or a single one of more.
    set_tests_properties(${name}@${ranks} PROPERTIES
      TIMEOUT ${arg_TIMEOUT} ENVIRONMENT "${PLAIT_TEST_ENVIRONMENT}" PROCESSORS ${ranks} LABELS mpi)
    if(arg_LARGE)
      set_tests_properties(${name}@${ranks} PROPERTIES RESOURCE_LOCK memory)
    endif()
  endforeach()
endfunction()
