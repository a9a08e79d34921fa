# plait_link_peer(TARGET NAME HEADER [SUFFIX folder] LIBRARIES name ...)
#
# Links a program with a library that it is compared with, where that is found, and defines PLAIT_HAS_<NAME> then.

function(plait_link_peer target name header)
  cmake_parse_arguments(arg "" "SUFFIX" "LIBRARIES" ${ARGN})
  find_path(PLAIT_${name}_INCLUDE ${header} PATH_SUFFIXES ${arg_SUFFIX})
  foreach(library ${arg_LIBRARIES})
    find_library(PLAIT_${name}_${library} ${library})
    list(APPEND libraries ${PLAIT_${name}_${library}})
  endforeach()
  if(NOT PLAIT_${name}_INCLUDE OR libraries MATCHES NOTFOUND)
    return()
  endif()
  target_link_libraries(${target} PRIVATE ${libraries})
  target_include_directories(${target} SYSTEM PRIVATE ${PLAIT_${name}_INCLUDE})
  target_compile_definitions(${target} PRIVATE PLAIT_HAS_${name})
endfunction()
