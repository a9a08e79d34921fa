# PLAIT_HDF5_PACKAGE: pkg-config's name of the HDF5 library that belongs to the MPI in use, as the target PkgConfig::hdf5;
# empty where there is none, or where PLAIT_HDF5 is OFF, and then files of that kind are refused.
#
# Debian has one HDF5 for each MPI, and "hdf5" is that of whichever MPI is the system's default: a program that is linked
# with the other one's has two MPIs in it and dies when it starts. So the name says which, unless a user gives another.
option(PLAIT_HDF5 "Read and write HDF5 files, where the library of this MPI is found" ON)

if(PLAIT_HDF5 AND PLAIT_HDF5_PACKAGE)
  pkg_check_modules(hdf5 REQUIRED IMPORTED_TARGET ${PLAIT_HDF5_PACKAGE})
elseif(PLAIT_HDF5)
  pkg_search_module(hdf5 IMPORTED_TARGET hdf5-${PLAIT_MPI_NAME} hdf5-serial)
  set(PLAIT_HDF5_PACKAGE ${hdf5_MODULE_NAME})
else()
  set(PLAIT_HDF5_PACKAGE "")
endif()
if(PLAIT_HDF5_PACKAGE)
  message(STATUS "HDF5: ${PLAIT_HDF5_PACKAGE} ${hdf5_VERSION}")
else()
  message(STATUS "HDF5: none, looked for hdf5-${PLAIT_MPI_NAME} and hdf5-serial by pkg-config")
endif()
