# What every target of the project is compiled with.
include(PlaitMpi)

add_library(plait_options INTERFACE)
target_compile_features(plait_options INTERFACE cxx_std_20)
target_compile_options(plait_options INTERFACE
  $<$<COMPILE_LANGUAGE:CXX>:-Wall -Wextra -Wpedantic -Wconversion -Wsign-conversion -Wshadow -Wnon-virtual-dtor -Wold-style-cast>
  $<$<CONFIG:Debug>:-Og>) # debuggable as -O0, and the tests take a fraction of the time
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  # "text" + std::string is warned of at -O2: https://gcc.gnu.org/bugzilla/show_bug.cgi?id=105651
  target_compile_options(plait_options INTERFACE -Wno-restrict)
  if(CMAKE_UNITY_BUILD)
    # Sources that are included by one that is compiled look to the compiler like headers with anonymous namespaces, and
    # names of one hide those of another.
    target_compile_options(plait_options INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-Wno-subobject-linkage -Wno-shadow>)
  endif()
elseif(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
  # It warns of [name = name], without which clang 14 captures no structured binding, and of what libstdc++'s
  # std::stable_sort calls; of names in sources that are compiled as one like g++.
  target_compile_options(plait_options INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-Wno-shadow -Wno-deprecated-declarations>)
endif()
target_compile_definitions(plait_options INTERFACE PLAIT_MPI_FAMILY="${PLAIT_MPI_FAMILY}")
if(PLAIT_SANITIZE)
  target_compile_options(plait_options INTERFACE -fsanitize=${PLAIT_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  target_link_options(plait_options INTERFACE -fsanitize=${PLAIT_SANITIZE})
  if(PLAIT_SANITIZE MATCHES "undefined" AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    # With them g++ takes no comparison of a function's address with null for constant: the tables of kernels don't compile
    # (https://gcc.gnu.org/bugzilla/show_bug.cgi?id=71962). A null that is used crashes all the same.
    target_compile_options(plait_options INTERFACE -fno-sanitize=null,nonnull-attribute,returns-nonnull-attribute)
  endif()
endif()

# plait_compile_quickly(TARGET): the templates of GoogleTest, CLI11 and JSON take a third less time to compile at -O1, and
# what calls them leaves the work to plait, which is optimised as ever.
function(plait_compile_quickly target)
  target_compile_options(${target} PRIVATE $<$<CONFIG:Release>:-O1>)
  plait_cache_with_precompiled_headers(${target})
endfunction()

# plait_cache_with_precompiled_headers(TARGET): of caches of compilers, ccache goes along with precompiled headers of
# g++'s, once it is told that it may take them for what their sources say.
function(plait_cache_with_precompiled_headers target)
  if(precompiling_launcher)
    target_compile_options(${target} PRIVATE -fpch-preprocess)
    set_target_properties(${target} PROPERTIES CXX_COMPILER_LAUNCHER "${precompiling_launcher}")
  endif()
endfunction()

if(CMAKE_CXX_COMPILER_LAUNCHER MATCHES "(^|/)ccache$" AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  set(precompiling_launcher env CCACHE_SLOPPINESS=pch_defines,time_macros ${CMAKE_CXX_COMPILER_LAUNCHER})
elseif(CMAKE_CXX_COMPILER_LAUNCHER MATCHES "cache")
  set(CMAKE_DISABLE_PRECOMPILE_HEADERS ON)
endif()
