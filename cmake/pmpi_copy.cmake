# cmake -DNM=... -DOBJCOPY=... -DORIGINAL=a.a -DCOPY=b.a -P pmpi_copy.cmake: see plait_add_pmpi_copy.
cmake_minimum_required(VERSION 3.25)
execute_process(COMMAND ${NM} --undefined-only --format=just-symbols ${ORIGINAL}
  OUTPUT_VARIABLE symbols COMMAND_ERROR_IS_FATAL ANY)
string(REPLACE "\n" ";" calls "${symbols}")
list(FILTER calls INCLUDE REGEX "^MPIX?_[A-Z][a-z]") # functions: constants and types are written otherwise
list(REMOVE_DUPLICATES calls)
list(TRANSFORM calls REPLACE "(.+)" "\\1 P\\1\n")
list(JOIN calls "" renames)
file(WRITE ${COPY}.renames "${renames}")
execute_process(COMMAND ${OBJCOPY} --redefine-syms=${COPY}.renames ${ORIGINAL} ${COPY} COMMAND_ERROR_IS_FATAL ANY)
