# What `cmake --install` puts where, for find_package(plait) and pkg-config. The targets are plait::c, the shared C API,
# and where the project that asks knows C++, plait::plait and plait::c_static as well.
#
# Builds for several MPIs go into one prefix: whatever depends on the MPI has its name in its own or its folder's name,
# and the rest is the same for all.
include(CMakePackageConfigHelpers)

# The compiler of the MPI, by the name that stays its own when another MPI becomes the system's: what links of the kind of
# /usr/bin/mpicc lead to. It is no further than where it is still called so, since what lies behind may go by its name.
find_program(PLAIT_MPICC "${MPI_C_COMPILER}" NO_CACHE)
set(plait_mpicc_next "${PLAIT_MPICC}")
while(IS_SYMLINK "${plait_mpicc_next}")
  get_filename_component(plait_mpicc_folder ${plait_mpicc_next} DIRECTORY)
  file(READ_SYMLINK ${plait_mpicc_next} plait_mpicc_next)
  get_filename_component(plait_mpicc_next ${plait_mpicc_next} ABSOLUTE BASE_DIR ${plait_mpicc_folder})
  if(plait_mpicc_next MATCHES "/mpi[^/]*$")
    set(PLAIT_MPICC ${plait_mpicc_next})
  endif()
endwhile()

set(plait_config_folder ${CMAKE_INSTALL_LIBDIR}/cmake/plait-${PLAIT_MPI_NAME})

# install_pc(NAME DESCRIPTION REQUIRES FLAGS LIBRARIES): its file for pkg-config. The prefix is told from where that lies, so
# that what was installed may be moved.
function(install_pc plait_pc plait_pc_description plait_pc_requires plait_pc_flags plait_pc_libraries)
  file(RELATIVE_PATH plait_prefix_from_pc ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig ${CMAKE_INSTALL_PREFIX})
  configure_file(${PROJECT_SOURCE_DIR}/cmake/plait.pc.in ${PROJECT_BINARY_DIR}/cmake/${plait_pc}.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/cmake/${plait_pc}.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endfunction()

install(TARGETS plait EXPORT plait_static DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(CODE "
  set(sources \"${PROJECT_SOURCE_DIR}/src\")
  get_filename_component(headers_folder \"${CMAKE_INSTALL_INCLUDEDIR}\" ABSOLUTE BASE_DIR \"\${CMAKE_INSTALL_PREFIX}\")")
install(SCRIPT ${CMAKE_CURRENT_LIST_DIR}/install_headers.cmake)
install(EXPORT plait_static NAMESPACE plait:: DESTINATION ${plait_config_folder})
list(JOIN MPI_C_INCLUDE_DIRS " -I" plait_mpi_folders)
list(JOIN MPI_C_LIBRARIES " " plait_mpi_libraries)
list(JOIN BLAS_LIBRARIES " " plait_blas_libraries)
install_pc(plait-cpp-${PLAIT_MPI_NAME}
  "The C++ library of plait for ${PLAIT_MPI_FAMILY}, which moves distributed data between ranks" "fmt libhwy ${PLAIT_HDF5_PACKAGE}"
  "-std=c++20 ${OpenMP_CXX_FLAGS} -DOMPI_SKIP_MPICXX -DMPICH_SKIP_MPICXX -DPLAIT_ASSERT_LEVEL=${PLAIT_ASSERT_LEVEL} -I${plait_mpi_folders}"
  "-l:libplait-${PLAIT_MPI_NAME}.a ${plait_mpi_libraries} ${plait_blas_libraries} ${OpenMP_CXX_FLAGS} -ldl")

if(PLAIT_BUILD_CAPI)
  install(TARGETS plait_c_static EXPORT plait_static DESTINATION ${CMAKE_INSTALL_LIBDIR})
  install(TARGETS plait_c EXPORT plait_shared DESTINATION ${CMAKE_INSTALL_LIBDIR})
  install(FILES ${PROJECT_SOURCE_DIR}/src/capi/plait.h ${PROJECT_SOURCE_DIR}/src/capi/plait.f90
    DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
  install(EXPORT plait_shared NAMESPACE plait:: DESTINATION ${plait_config_folder})
  install_pc(plait-${PLAIT_MPI_NAME}
    "The C API of plait for ${PLAIT_MPI_FAMILY}, which moves distributed data between ranks; compile with \${mpicc}" "" ""
    "-lplait-${PLAIT_MPI_NAME}")
endif()

foreach(library plait_reduce plait_scalapack plait_openmpi)
  if(TARGET ${library})
    install(TARGETS ${library} DESTINATION ${CMAKE_INSTALL_LIBDIR}/plait/${PLAIT_MPI_NAME})
  endif()
endforeach()

if(PLAIT_BUILD_COMMAND)
  install(TARGETS plait_command DESTINATION ${CMAKE_INSTALL_BINDIR})
  # The short name is that of whoever comes first. Packages, which are staged, have other ways to share a name.
  install(CODE "
    get_filename_component(plait_link \"${CMAKE_INSTALL_BINDIR}/plait\" ABSOLUTE BASE_DIR \"\${CMAKE_INSTALL_PREFIX}\")
    if(\"\$ENV{DESTDIR}\" STREQUAL \"\" AND NOT EXISTS \"\${plait_link}\")
      message(STATUS \"Linking: \${plait_link}\")
      file(CREATE_LINK plait.${PLAIT_MPI_NAME} \"\${plait_link}\" SYMBOLIC)
    endif()")
endif()

configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/plaitConfig.cmake.in ${PROJECT_BINARY_DIR}/cmake/plaitConfig.cmake
  INSTALL_DESTINATION ${plait_config_folder})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/cmake/plaitVersion.cmake COMPATIBILITY SameMinorVersion)
configure_file(${CMAKE_CURRENT_LIST_DIR}/plaitConfigVersion.cmake.in
  ${PROJECT_BINARY_DIR}/cmake/plaitConfigVersion.cmake @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/cmake/plaitConfig.cmake ${PROJECT_BINARY_DIR}/cmake/plaitConfigVersion.cmake
  ${PROJECT_BINARY_DIR}/cmake/plaitVersion.cmake DESTINATION ${plait_config_folder})
