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

function(boba_folder name)
  cmake_parse_arguments(arg "" "" "SOURCES;LINKS" ${ARGN})
  add_library(boba_${name} OBJECT ${arg_SOURCES})
  target_include_directories(boba_${name} PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}>)
  target_link_libraries(boba_${name} PUBLIC ${arg_LINKS} PRIVATE $<BUILD_INTERFACE:boba_flags>)
  set_property(GLOBAL APPEND PROPERTY BOBA_FOLDERS boba_${name})
endfunction()

# boba_part(NAME LINKS ... EXCEPT ...): a folder beside the library, with the libraries that only a
# simulator needs; programs link boba_NAME. EXCEPT names sources that another stands in for.
function(boba_part name)
  cmake_parse_arguments(arg "" "" "LINKS;EXCEPT" ${ARGN})
  file(GLOB sources CONFIGURE_DEPENDS *.cc)
  foreach(other IN LISTS arg_EXCEPT)
    list(FILTER sources EXCLUDE REGEX "/${other}$")
  endforeach()
  add_library(boba_${name} STATIC ${sources})
  target_link_libraries(boba_${name} PUBLIC ${arg_LINKS} PRIVATE boba_flags)
endfunction()
