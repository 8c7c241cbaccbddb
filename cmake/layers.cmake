# From a folder to a target: layers, the executable, fuzzers and benchmarks.

# The layers that exist, in the order of the table.
set(makeway_layers "")

# Sources of a layer: every .cpp that is not a test, a fuzzer, a benchmark or main.
function(makeway_layer_sources out layer)
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS "${CMAKE_SOURCE_DIR}/src/${layer}/*.cpp")
  list(FILTER sources EXCLUDE REGEX "_(test|fuzz|benchmark)\\.cpp$|/main\\.cpp$")
  set(${out} "${sources}" PARENT_SCOPE)
endfunction()

# makeway_unity(target [BY_FOLDER])
# Compiles the target's files in batches of at most 450 KB: a batch pays once for what its files
# include and instantiate, and that is most of what a file costs
# (docs/evidence/2026-11-19-build.md). A compiler needs up to 2 GB for one.
# BY_FOLDER: in batches of 8 files of one folder: a change costs less, and a first build more.
# A name in an anonymous namespace belongs to its whole layer.
set(makeway_batch_bytes 450000)
set(makeway_batch_files 8)
function(makeway_unity target)
  cmake_parse_arguments(unity "BY_FOLDER" "" "" ${ARGN})
  if(NOT MAKEWAY_UNITY)
    return()
  endif()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
  # A .cpp that is included is still no header, and may call a local as its neighbour calls a
  # constant.
  target_compile_options(${target} PRIVATE -Wno-shadow)
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    target_compile_options(${target} PRIVATE -Wshadow=local -Wno-subobject-linkage)
  endif()
  if(unity_BY_FOLDER OR MAKEWAY_UNITY_BY_FOLDER)
    makeway_batches_by_folder(${target})
  else()
    makeway_batches_by_size(${target})
  endif()
endfunction()

function(makeway_batches_by_size target)
  get_target_property(sources ${target} SOURCES)
  list(SORT sources)
  set(total 0)
  set(starts "")
  foreach(source IN LISTS sources)
    list(APPEND starts ${total})
    cmake_path(ABSOLUTE_PATH source OUTPUT_VARIABLE file)
    file(SIZE "${file}" bytes)
    math(EXPR total "${total} + ${bytes}")
  endforeach()
  math(EXPR count "(${total} + ${makeway_batch_bytes} - 1) / ${makeway_batch_bytes}")
  foreach(source start IN ZIP_LISTS sources starts)
    math(EXPR batch "${start} * ${count} / ${total}")
    set_property(SOURCE "${source}" DIRECTORY "${CMAKE_CURRENT_SOURCE_DIR}"
                 PROPERTY UNITY_GROUP "${target}_${batch}")
  endforeach()
endfunction()

function(makeway_batches_by_folder target)
  get_target_property(sources ${target} SOURCES)
  list(SORT sources)
  set(folder "")
  foreach(source IN LISTS sources)
    cmake_path(GET source PARENT_PATH parent)
    if(NOT parent STREQUAL folder)
      set(folder "${parent}")
      set(in_folder 0)
    endif()
    math(EXPR batch "${in_folder} / ${makeway_batch_files}")
    math(EXPR in_folder "${in_folder} + 1")
    file(RELATIVE_PATH name "${CMAKE_SOURCE_DIR}" "${folder}")
    string(REPLACE "/" "_" name "${name}")
    set_property(SOURCE "${source}" DIRECTORY "${CMAKE_CURRENT_SOURCE_DIR}"
                 PROPERTY UNITY_GROUP "${name}_${batch}")
  endforeach()
endfunction()

# makeway_layer(name [HOT | COLD] [BY_FOLDER] [USES layer...] [PUBLIC_LIBRARIES target...]
#               [LIBRARIES target...])
# HOT: the loops that every decision spends its time in. COLD: its code runs too rarely to be worth
# a minute of optimising in every build. BY_FOLDER: see makeway_unity.
function(makeway_layer name)
  cmake_parse_arguments(layer "HOT;COLD;BY_FOLDER" "" "USES;PUBLIC_LIBRARIES;LIBRARIES" ${ARGN})
  makeway_layer_sources(sources ${name})
  if(NOT sources)
    return()
  endif()
  add_library(makeway_${name} STATIC ${sources})
  if(layer_BY_FOLDER)
    makeway_unity(makeway_${name} BY_FOLDER)
  else()
    makeway_unity(makeway_${name})
  endif()
  if(layer_COLD)
    target_compile_options(makeway_${name} PRIVATE -O1)
  elseif(layer_HOT AND CMAKE_CXX_FLAGS MATCHES "-O2")
    target_compile_options(makeway_${name} PRIVATE -O3)
  endif()
  target_include_directories(makeway_${name} PUBLIC "${CMAKE_SOURCE_DIR}/src")
  target_link_libraries(makeway_${name} PUBLIC ${layer_PUBLIC_LIBRARIES}
                                        PRIVATE ${layer_LIBRARIES})
  foreach(used IN LISTS layer_USES)
    if(TARGET makeway_${used})
      target_link_libraries(makeway_${name} PUBLIC makeway_${used})
    endif()
  endforeach()
  set(makeway_layers ${makeway_layers} ${name} PARENT_SCOPE)
endfunction()

# `makeway` itself: main.cpp and everything that the cli layer wires together.
function(makeway_executable)
  if(NOT TARGET makeway_cli OR NOT EXISTS "${CMAKE_SOURCE_DIR}/src/cli/main.cpp")
    message(STATUS "src/cli is not complete: the executable is left out")
    return()
  endif()
  target_compile_definitions(makeway_cli PRIVATE "MAKEWAY_VERSION=\"${PROJECT_VERSION}\""
                                                 "MAKEWAY_CONTAIN=$<BOOL:${MAKEWAY_CONTAIN}>")
  add_executable(makeway "${CMAKE_SOURCE_DIR}/src/cli/main.cpp")
  target_link_libraries(makeway PRIVATE makeway_cli)
  set_target_properties(makeway PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${MAKEWAY_BINARY_DIR}")
  makeway_install()
endfunction()

# `cmake --install build/release --strip`: the program, and beside it makeway.debug with the debug
# information, which debuggers find by themselves.
function(makeway_install)
  install(TARGETS makeway RUNTIME DESTINATION bin)
  install(CODE "set(built \"$<TARGET_FILE:makeway>\")\nset(objcopy \"${CMAKE_OBJCOPY}\")")
  install(CODE [[
    if(CMAKE_INSTALL_DO_STRIP)
      set(program "$ENV{DESTDIR}${CMAKE_INSTALL_PREFIX}/bin/makeway")
      execute_process(COMMAND "${objcopy}" --only-keep-debug "${built}" "${program}.debug"
                      COMMAND_ERROR_IS_FATAL ANY)
      execute_process(COMMAND "${objcopy}" "--add-gnu-debuglink=${program}.debug" "${program}"
                      COMMAND_ERROR_IS_FATAL ANY)
    endif()
  ]])
endfunction()

# Every src/<layer>/<stem>_fuzz.cpp is a libFuzzer program named <stem>_fuzz.
function(makeway_fuzzers)
  foreach(layer IN LISTS makeway_layers)
    file(GLOB fuzzers CONFIGURE_DEPENDS "${CMAKE_SOURCE_DIR}/src/${layer}/*_fuzz.cpp")
    foreach(fuzzer IN LISTS fuzzers)
      cmake_path(GET fuzzer STEM stem)
      add_executable(${stem} "${fuzzer}")
      target_link_libraries(${stem} PRIVATE makeway_${layer})
      target_link_options(${stem} PRIVATE -fsanitize=fuzzer)
      set_target_properties(${stem} PROPERTIES
                            RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/fuzzers")
    endforeach()
  endforeach()
endfunction()

# Every bench/<stem>.cpp is a program of its own, in bench/ of the build folder. A helper that
# several of them need is a header beside them.
function(makeway_benchmarks)
  list(TRANSFORM makeway_layers PREPEND makeway_ OUTPUT_VARIABLE libraries)
  file(GLOB support CONFIGURE_DEPENDS "${CMAKE_SOURCE_DIR}/bench/support/*.cpp")
  add_library(makeway_bench_support STATIC EXCLUDE_FROM_ALL ${support})
  target_include_directories(makeway_bench_support PUBLIC "${CMAKE_SOURCE_DIR}")
  target_link_libraries(makeway_bench_support PUBLIC ${libraries})
  file(GLOB benchmarks CONFIGURE_DEPENDS "${CMAKE_SOURCE_DIR}/bench/*.cpp")
  foreach(benchmark IN LISTS benchmarks)
    cmake_path(GET benchmark STEM stem)
    add_executable(bench_${stem} EXCLUDE_FROM_ALL "${benchmark}")
    target_link_libraries(bench_${stem} PRIVATE makeway_bench_support)
    file(STRINGS "${benchmark}" uses_google_benchmark REGEX "#include <benchmark/benchmark.h>")
    if(uses_google_benchmark)
      find_package(benchmark REQUIRED)
      target_link_libraries(bench_${stem} PRIVATE benchmark::benchmark)
    endif()
    set_target_properties(bench_${stem} PROPERTIES OUTPUT_NAME ${stem}
                          RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/bench")
  endforeach()
endfunction()
