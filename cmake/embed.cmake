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
