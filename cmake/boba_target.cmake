# One target per folder: boba_folder(NAME SOURCES ... LINKS ...) makes the object library
# boba_NAME, whose links are exactly those of the architecture's table. The objects of all folders
# together are the library boba::boba.

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_C_STANDARD 11)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "" FORCE)
endif()

add_library(boba_flags INTERFACE)
set(boba_warnings -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wno-sign-conversion)
if(BOBA_WERROR)
  list(APPEND boba_warnings -Werror)
endif()
target_compile_options(boba_flags INTERFACE $<$<NOT:$<COMPILE_LANGUAGE:CUDA>>:${boba_warnings}>)
# What nvcc hands to the host compiler is full of its own constructions: fewer warnings there.
target_compile_options(boba_flags
                       INTERFACE $<$<COMPILE_LANGUAGE:CUDA>:-Xcompiler=-Wall,-Wno-parentheses$<$<BOOL:${BOBA_WERROR}>:,-Werror>>)
if(BOBA_SANITIZE)
  target_compile_options(boba_flags INTERFACE -fsanitize=${BOBA_SANITIZE} -fno-omit-frame-pointer
                                              -fno-sanitize-recover=all)
  target_link_options(boba_flags INTERFACE -fsanitize=${BOBA_SANITIZE})
endif()

# boba_precompile(TARGET HEADERS...): the standard headers that nearly every source includes, and
# HEADERS, are parsed once for the target. Sources still name what they use: -DBOBA_PCH=OFF, as
# `make lint` configures it, compiles without. boba_precompile_like(TARGET OTHER) uses the headers of
# OTHER, which must have the same flags.
option(BOBA_PCH "Precompile headers" ON)
# g++ 12 warns wrongly about short strings once <string> comes from a precompiled header.
set(boba_precompiled_flags
    "$<$<COMPILE_LANG_AND_ID:CXX,GNU>:-Wno-array-bounds;-Wno-stringop-overread;-Wno-stringop-overflow;-Wno-restrict>")
function(boba_precompile target)
  if(NOT BOBA_PCH)
    return()
  endif()
  foreach(header IN ITEMS <algorithm> <cmath> <cstdint> <functional> <map> <memory> <optional> <span>
                          <string> <string_view> <utility> <vector> <fmt/format.h> ${ARGN})
    target_precompile_headers(${target} PRIVATE $<$<COMPILE_LANGUAGE:CXX>:${header}>)
  endforeach()
  target_compile_options(${target} PRIVATE ${boba_precompiled_flags})
endfunction()

function(boba_precompile_like target other)
  if(BOBA_PCH)
    target_precompile_headers(${target} REUSE_FROM ${other})
    # OTHER is a library: a program is compiled with -fPIC too, not with CMake's -fPIE.
    set_target_properties(${target} PROPERTIES POSITION_INDEPENDENT_CODE OFF)
    target_compile_options(${target} PRIVATE -fPIC)
    target_compile_options(${target} PRIVATE ${boba_precompiled_flags})
  endif()
endfunction()

# boba_together(TARGET COUNT): compiles COUNT sources of TARGET at a time (0: all of them), where the
# headers take most of the time of each. -DBOBA_PCH=OFF compiles each alone.
function(boba_together target count)
  if(BOBA_PCH)
    set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE ${count})
  endif()
endfunction()

# boba_cold(TARGET): code that takes no part in passes over updates; it compiles faster with less
# optimisation.
function(boba_cold target)
  target_compile_options(${target} PRIVATE $<$<AND:$<CONFIG:Release>,$<COMPILE_LANGUAGE:CXX>>:-O1>)
endfunction()

function(boba_folder name)
  cmake_parse_arguments(arg "" "" "SOURCES;LINKS" ${ARGN})
  add_library(boba_${name} OBJECT ${arg_SOURCES})
  target_include_directories(boba_${name} PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}>)
  target_link_libraries(boba_${name} PUBLIC ${arg_LINKS} PRIVATE $<BUILD_INTERFACE:boba_flags>)
  set_property(GLOBAL APPEND PROPERTY BOBA_FOLDERS boba_${name})
endfunction()

# boba_part(NAME LINKS ...): a folder beside the library, with the libraries that only a simulator
# needs; programs link boba_NAME. boba_object_part makes objects for another folder's library.
function(boba_part name)
  cmake_parse_arguments(arg "" "" "LINKS" ${ARGN})
  file(GLOB sources CONFIGURE_DEPENDS *.cc)
  add_library(boba_${name} STATIC ${sources})
  target_link_libraries(boba_${name} PUBLIC ${arg_LINKS} PRIVATE boba_flags)
  boba_precompile(boba_${name})
endfunction()
function(boba_object_part name)
  cmake_parse_arguments(arg "" "" "SOURCES;LINKS" ${ARGN})
  add_library(boba_${name} OBJECT ${arg_SOURCES})
  target_link_libraries(boba_${name} PUBLIC ${arg_LINKS} PRIVATE boba_flags)
endfunction()
