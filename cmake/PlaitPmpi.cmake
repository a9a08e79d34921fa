# plait_add_pmpi_copy(NAME ORIGINAL [LIBRARIES ...])
#
# NAME: what the static library ORIGINAL is, but for its calls of MPI, which go to MPI's profiling names (PMPI_Send for
# MPI_Send). A library that is loaded into programs that know nothing of it is linked with such copies: its own calls
# neither come back through functions that it intercepts, nor does a profiler of the program's calls see them.
# LIBRARIES are what it is linked with.
function(plait_add_pmpi_copy name original)
  cmake_parse_arguments(arg "" "" "LIBRARIES" ${ARGN})
  set(archive ${CMAKE_CURRENT_BINARY_DIR}/lib${name}.a)
  add_custom_command(OUTPUT ${archive}
    COMMAND ${CMAKE_COMMAND} -DNM=${CMAKE_NM} -DOBJCOPY=${CMAKE_OBJCOPY} -DORIGINAL=$<TARGET_FILE:${original}>
      -DCOPY=${archive} -P ${PROJECT_SOURCE_DIR}/cmake/pmpi_copy.cmake
    DEPENDS ${original} $<TARGET_FILE:${original}> ${PROJECT_SOURCE_DIR}/cmake/pmpi_copy.cmake
    COMMENT "Let a copy of ${original} call MPI by its profiling names"
    VERBATIM)
  add_custom_target(${name}_archive DEPENDS ${archive})
  add_library(${name} INTERFACE)
  add_dependencies(${name} ${name}_archive)
  target_link_libraries(${name} INTERFACE ${archive} ${arg_LIBRARIES})
  foreach(kind INCLUDE_DIRECTORIES COMPILE_DEFINITIONS COMPILE_FEATURES)
    set_target_properties(${name} PROPERTIES INTERFACE_${kind} $<TARGET_PROPERTY:${original},INTERFACE_${kind}>)
  endforeach()
endfunction()
