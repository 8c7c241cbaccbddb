# Script of the ctest entry `compile_fail`: see CMakeLists.txt beside it.
set(flags -std=c++23 -fsyntax-only -Wall -Wextra -Werror "-I${SOURCE_DIR}/src")
file(GLOB files "${SOURCE_DIR}/tests/compile_fail/*.cpp")
set(failures 0)

foreach(file IN LISTS files)
  cmake_path(GET file FILENAME name)
  execute_process(COMMAND "${COMPILER}" ${flags} "${file}" RESULT_VARIABLE correct_use
                  ERROR_VARIABLE correct_use_output)
  execute_process(COMMAND "${COMPILER}" ${flags} -DMUST_FAIL "${file}" RESULT_VARIABLE misuse
                  ERROR_VARIABLE misuse_output)
  if(NOT correct_use EQUAL 0)
    message("${name}: the correct use does not compile:\n${correct_use_output}")
    math(EXPR failures "${failures} + 1")
  elseif(misuse EQUAL 0)
    message("${name}: the misuse compiles, and it must not")
    math(EXPR failures "${failures} + 1")
  elseif(NOT misuse_output MATCHES "error:")
    message("${name}: the compiler itself failed:\n${misuse_output}")
    math(EXPR failures "${failures} + 1")
  endif()
endforeach()

list(LENGTH files count)
if(failures GREATER 0 OR count EQUAL 0)
  message(FATAL_ERROR "${failures} of ${count} files")
endif()
message("[  PASSED  ] ${count} files: correct use compiles, misuse does not.")
