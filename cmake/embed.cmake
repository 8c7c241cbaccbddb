# Compiles src/codec/presets/*.yaml into the codec layer.
#
# codec/presets.hpp declares EmbeddedPreset and embedded_presets(); the definition is written here,
# at configure time, as raw string literals sorted by name. Editing a preset configures again.
function(makeway_embed_presets)
  set(folder "${CMAKE_SOURCE_DIR}/src/codec/presets")
  if(NOT TARGET makeway_codec OR NOT EXISTS "${CMAKE_SOURCE_DIR}/src/codec/presets.hpp")
    return()
  endif()
  file(GLOB presets CONFIGURE_DEPENDS "${folder}/*.yaml")
  list(SORT presets)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${presets})
  list(LENGTH presets count)

  set(text "// Written by cmake/embed.cmake from src/codec/presets/*.yaml. Do not edit.\n")
  string(APPEND text "#include \"codec/presets.hpp\"\n\n#include <array>\n\n")
  string(APPEND text "namespace makeway {\n\n")
  string(APPEND text "std::span<const EmbeddedPreset> embedded_presets() {\n")
  string(APPEND text "  static constexpr std::array<EmbeddedPreset, ${count}> presets = {{\n")
  foreach(preset IN LISTS presets)
    cmake_path(GET preset STEM LAST_ONLY name)
    file(READ "${preset}" document)
    string(APPEND text "      {\"${name}\", R\"makeway_yaml(${document})makeway_yaml\"},\n")
  endforeach()
  string(APPEND text "  }};\n  return presets;\n}\n\n}  // namespace makeway\n")

  set(generated "${CMAKE_BINARY_DIR}/generated/embedded_presets.cpp")
  set(previous "")
  if(EXISTS "${generated}")
    file(READ "${generated}" previous)
  endif()
  if(NOT previous STREQUAL text)
    file(WRITE "${generated}" "${text}")
  endif()
  target_sources(makeway_codec PRIVATE "${generated}")
  # clang counts what standard C promises for a literal; both compilers take megabytes.
  set_source_files_properties("${generated}" PROPERTIES COMPILE_OPTIONS -Wno-overlength-strings)
endfunction()

# Puts web/dist/*.js and *.css into the page layer as they are: page/page.cpp names the symbols. An
# assembler reads a file in no time; as a C++ literal it would be parsed again by every build.
function(makeway_embed_web)
  if(NOT TARGET makeway_page)
    return()
  endif()
  set(text "# Written by cmake/embed.cmake from web/dist. Do not edit.\n.section .rodata\n")
  set(files "")
  foreach(bundle report plan dashboard)
    foreach(type js css)
      set(file "${CMAKE_SOURCE_DIR}/web/dist/${bundle}.${type}")
      set(symbol "makeway_web_${bundle}_${type}")
      list(APPEND files "${file}")
      string(APPEND text ".balign 16\n.global ${symbol}\n${symbol}:\n.incbin \"${file}\"\n")
      string(APPEND text ".global ${symbol}_end\n${symbol}_end:\n.byte 0\n")
    endforeach()
  endforeach()
  # Without this line the linker would make the stack executable.
  string(APPEND text ".section .note.GNU-stack,\"\",%progbits\n")
  set(generated "${CMAKE_BINARY_DIR}/generated/web_bundles.s")
  file(CONFIGURE OUTPUT "${generated}" CONTENT "${text}" @ONLY)
  target_sources(makeway_page PRIVATE "${generated}")
  set_source_files_properties("${generated}" PROPERTIES OBJECT_DEPENDS "${files}")
  if(CMAKE_CXX_COMPILER_ID MATCHES "Clang")
    # The flags of C++ mean nothing to an assembler, and clang says so.
    set_source_files_properties("${generated}" PROPERTIES
                                COMPILE_OPTIONS -Wno-unused-command-line-argument)
  endif()
endfunction()
