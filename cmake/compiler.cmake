# How every file of Makeway is compiled, and the libraries it may be linked with.

set(CMAKE_CXX_STANDARD 23)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)

# The presets choose the optimisation. Without a preset: what `release` has.
if(NOT CMAKE_CXX_FLAGS AND NOT CMAKE_BUILD_TYPE)
  add_compile_options(-O3 -g1)
endif()

add_compile_options(-Wall -Wextra -Wpedantic -Wconversion -Wshadow -Werror)
# Designated initialisers leave the rest at their defaults: that is what they are for.
add_compile_options(-Wno-missing-field-initializers)

# gcc fuses a*b+c into one rounding on some machines and not on others: same bytes everywhere.
add_compile_options(-ffp-contract=off)

# CHECK prints __FILE__: the path inside the repository, not of the machine that compiled it. The
# second form is what ccache makes of the path when it may (see the Makefile).
file(RELATIVE_PATH from_build_to_source "${CMAKE_BINARY_DIR}" "${CMAKE_SOURCE_DIR}")
add_compile_options("-ffile-prefix-map=${CMAKE_SOURCE_DIR}/="
                    "-ffile-prefix-map=${from_build_to_source}=")

find_program(CCACHE ccache)
if(CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER "${CCACHE}")
endif()
find_program(MOLD mold)
if(MOLD)
  add_link_options(-fuse-ld=mold)
endif()

find_package(fmt REQUIRED)
find_package(simdjson REQUIRED)
find_package(ZLIB REQUIRED)
find_package(CLI11 REQUIRED)

# Debian's libyaml brings no CMake files.
find_path(YAML_INCLUDE_DIR yaml.h REQUIRED)
find_library(YAML_LIBRARY yaml REQUIRED)
add_library(makeway::yaml UNKNOWN IMPORTED)
set_target_properties(makeway::yaml PROPERTIES IMPORTED_LOCATION "${YAML_LIBRARY}"
                      INTERFACE_INCLUDE_DIRECTORIES "${YAML_INCLUDE_DIR}")
