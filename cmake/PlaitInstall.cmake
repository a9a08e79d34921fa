# What `cmake --install` puts where, for find_package(plait) and pkg-config. The targets are plait::c, the shared C API,
# and where the project that asks knows C++, plait::plait and plait::c_static as well.
include(CMakePackageConfigHelpers)

set(plait_config_folder ${CMAKE_INSTALL_LIBDIR}/cmake/plait)

install(TARGETS plait EXPORT plait_static DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(DIRECTORY ${PROJECT_SOURCE_DIR}/src/plait DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN *.hpp)
install(EXPORT plait_static NAMESPACE plait:: DESTINATION ${plait_config_folder})

if(PLAIT_BUILD_C_API)
  install(TARGETS plait_c_static EXPORT plait_static DESTINATION ${CMAKE_INSTALL_LIBDIR})
  install(TARGETS plait_c EXPORT plait_shared DESTINATION ${CMAKE_INSTALL_LIBDIR})
  install(FILES ${PROJECT_SOURCE_DIR}/src/capi/plait.h ${PROJECT_SOURCE_DIR}/src/capi/plait.f90
    DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
  install(EXPORT plait_shared NAMESPACE plait:: DESTINATION ${plait_config_folder})

  # The prefix is told from where plait.pc lies, so that what was installed may be moved.
  file(RELATIVE_PATH plait_prefix_from_pc ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig ${CMAKE_INSTALL_PREFIX})
  configure_file(${CMAKE_CURRENT_LIST_DIR}/plait.pc.in ${PROJECT_BINARY_DIR}/cmake/plait.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/cmake/plait.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endif()

if(PLAIT_BUILD_SCALAPACK)
  install(TARGETS plait_scalapack DESTINATION ${CMAKE_INSTALL_LIBDIR})
endif()
if(PLAIT_BUILD_REDUCE)
  install(TARGETS plait_reduce DESTINATION ${CMAKE_INSTALL_LIBDIR})
endif()

if(TARGET plait_openmpi)
  install(TARGETS plait_openmpi DESTINATION ${CMAKE_INSTALL_LIBDIR}/plait/openmpi)
endif()

if(PLAIT_BUILD_COMMAND)
  install(TARGETS plait_command DESTINATION ${CMAKE_INSTALL_BINDIR})
endif()

configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/plaitConfig.cmake.in ${PROJECT_BINARY_DIR}/cmake/plaitConfig.cmake
  INSTALL_DESTINATION ${plait_config_folder})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/cmake/plaitConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/cmake/plaitConfig.cmake ${PROJECT_BINARY_DIR}/cmake/plaitConfigVersion.cmake
  DESTINATION ${plait_config_folder})
