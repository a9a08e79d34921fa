# A project of a user's, which knows nothing but that plait is installed.
cmake_minimum_required(VERSION 3.25)
project(consumer LANGUAGES C CXX)
find_package(plait 0.1 REQUIRED)

add_executable(shared ${EXAMPLES}/redistribute.c)
target_link_libraries(shared PRIVATE plait::c)
add_executable(static ${EXAMPLES}/redistribute.c)
target_link_libraries(static PRIVATE plait::c_static)
add_executable(cpp ${EXAMPLES}/redistribute.cpp)
target_link_libraries(cpp PRIVATE plait::plait)
