# How every file of Makeway is compiled, and the libraries it may be linked with.

set(CMAKE_CXX_STANDARD 23)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)

# The presets choose the optimisation. Without a preset: what `release` has.
if(NOT CMAKE_CXX_FLAGS AND NOT CMAKE_BUILD_TYPE)
  set(CMAKE_CXX_FLAGS "-O2 -g1")
endif()

add_compile_options(-Wall -Wextra -Wpedantic -Wconversion -Wshadow -Werror)
# Designated initialisers leave the rest at their defaults: that is what they are for.
add_compile_options(-Wno-missing-field-initializers)
# Warnings that g++ 12 takes from its optimiser are wrong about strings (moved-from aggregates,
# fmt's fill, literal + string); clang, the sanitizers and the fuzzers look for the real ones.
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  add_compile_options(-Wno-maybe-uninitialized -Wno-stringop-overflow -Wno-restrict)
  # g++ collects its garbage at 128 MB, again and again; up to 500 MB it need not.
  add_compile_options("SHELL:--param ggc-min-heapsize=500000" "SHELL:--param ggc-min-expand=100")
  # Asio has fences, which the thread sanitizer does not see; the server has one thread behind them.
  if(CMAKE_CXX_FLAGS MATCHES "-fsanitize=thread")
    add_compile_options(-Wno-tsan)
  endif()
else()
  # std::stable_sort of libstdc++ 12 uses a buffer that libstdc++ itself calls deprecated.
  add_compile_options(-Wno-deprecated-declarations)
endif()

# gcc fuses a*b+c into one rounding on some machines and not on others: same bytes everywhere.
add_compile_options(-ffp-contract=off)

# ccache sees paths relative to the build folder only, so that objects are shared between clones
# and build folders at the same depth.
find_program(CCACHE ccache)
if(CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER env "CCACHE_BASEDIR=${CMAKE_SOURCE_DIR}" CCACHE_NOHASHDIR=1
                                  "${CCACHE}")
endif()

# CHECK prints __FILE__: the path inside the repository, not of the machine that compiled it.
if(CCACHE)
  file(RELATIVE_PATH from_build_to_source "${CMAKE_BINARY_DIR}" "${CMAKE_SOURCE_DIR}")
  add_compile_options("-ffile-prefix-map=${from_build_to_source}=")
endif()
add_compile_options("-ffile-prefix-map=${CMAKE_SOURCE_DIR}/=")

find_program(MOLD mold)
if(MOLD)
  # Code ends at a page of its own: where it would end in the last 4 bytes of one, mold 1.10 puts
  # the only thread_local into a page that is not mapped, and the program does not start.
  add_link_options(-fuse-ld=mold -Wl,-z,separate-code)
endif()

find_package(fmt REQUIRED)
find_package(simdjson REQUIRED)
find_package(ZLIB REQUIRED)
find_package(CLI11 REQUIRED)
find_package(CURL REQUIRED)

# Debian's libyaml brings no CMake files.
find_path(YAML_INCLUDE_DIR yaml.h REQUIRED)
find_library(YAML_LIBRARY yaml REQUIRED)
add_library(makeway::yaml UNKNOWN IMPORTED)
set_target_properties(makeway::yaml PROPERTIES IMPORTED_LOCATION "${YAML_LIBRARY}"
                      INTERFACE_INCLUDE_DIRECTORIES "${YAML_INCLUDE_DIR}")

# Only the core: we serve its text ourselves, and its own server stays out.
find_package(prometheus-cpp CONFIG REQUIRED)

# Beast is headers, and includes Asio's. Before 1.81 Asio does not compile as C++23 with g++ 12.
find_path(BEAST_INCLUDE_DIR boost/beast/http.hpp REQUIRED)
find_package(Threads REQUIRED)
file(STRINGS "${BEAST_INCLUDE_DIR}/boost/version.hpp" boost_version
     REGEX "^#define BOOST_VERSION [0-9]+")
string(REGEX REPLACE "[^0-9]" "" boost_version "${boost_version}")
if(boost_version LESS 108100)
  message(FATAL_ERROR "Boost ${boost_version} is too old: install libboost1.81-dev")
endif()
add_library(makeway::beast INTERFACE IMPORTED)
target_include_directories(makeway::beast SYSTEM INTERFACE "${BEAST_INCLUDE_DIR}")
find_package(OpenSSL REQUIRED)
target_link_libraries(makeway::beast INTERFACE Threads::Threads OpenSSL::SSL)
