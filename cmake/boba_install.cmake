# `cmake --install`: the library, its headers, a CMake package (find_package(boba CONFIG) gives
# boba::boba) and a pkg-config file; tools/ adds the program. All of it may be moved.
include(CMakePackageConfigHelpers)

set(boba_package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/boba)

install(TARGETS boba EXPORT boba_targets
        ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}
        LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
        RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})

if(BUILD_SHARED_LIBS AND TARGET boba_cli)
  file(RELATIVE_PATH up ${CMAKE_INSTALL_FULL_BINDIR} ${CMAKE_INSTALL_FULL_LIBDIR})
  set_target_properties(boba_cli PROPERTIES INSTALL_RPATH "$ORIGIN/${up}")
  if(TARGET boba_train_cli)
    set_target_properties(boba_train_cli PROPERTIES INSTALL_RPATH "$ORIGIN/${up}")
  endif()
endif()

# A user includes a header as boba's own files do: <boba/core/views.h>. The interface is boba.h, the
# C header, the headers for CUDA, each rule and attack (a header with info()), and what these
# include. All other headers are internal and stay behind.
set(boba_headers boba/boba.h boba/capi/boba.h boba/kernels/cuda/cuda.h boba/kernels/cuda/view.h)
file(GLOB boba_named CONFIGURE_DEPENDS RELATIVE ${PROJECT_SOURCE_DIR}
     ${PROJECT_SOURCE_DIR}/boba/rules/*.h ${PROJECT_SOURCE_DIR}/boba/attacks/*.h)
foreach(header IN LISTS boba_named)
  file(STRINGS ${PROJECT_SOURCE_DIR}/${header} info REGEX "Info info\\(\\)")
  if(info)
    list(APPEND boba_headers ${header})
  endif()
endforeach()
set(boba_installed "")
while(boba_headers)
  list(POP_FRONT boba_headers header)
  if(header IN_LIST boba_installed)
    continue()
  endif()
  list(APPEND boba_installed ${header})
  get_filename_component(folder ${header} DIRECTORY)
  install(FILES ${PROJECT_SOURCE_DIR}/${header}
          DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/${folder})
  file(STRINGS ${PROJECT_SOURCE_DIR}/${header} includes REGEX "^#include \"boba/")
  list(TRANSFORM includes REPLACE "^#include \"(.*)\".*" "\\1")
  list(APPEND boba_headers ${includes})
endwhile()

set(boba_config_cuda "")
if(boba_cuda)
  set(boba_config_cuda "find_dependency(CUDAToolkit)\n")
endif()
install(EXPORT boba_targets NAMESPACE boba:: FILE boba-targets.cmake
        DESTINATION ${boba_package_dir})
configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/boba-config.cmake.in
                              ${PROJECT_BINARY_DIR}/boba-config.cmake
                              INSTALL_DESTINATION ${boba_package_dir})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/boba-config-version.cmake
                                 COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/boba-config.cmake
              ${PROJECT_BINARY_DIR}/boba-config-version.cmake
        DESTINATION ${boba_package_dir})

# The prefix is found from where boba.pc lies, unless the folders were given as absolute paths.
set(boba_pc_dir ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
if(IS_ABSOLUTE ${CMAKE_INSTALL_LIBDIR} OR IS_ABSOLUTE ${CMAKE_INSTALL_INCLUDEDIR})
  set(boba_pc_prefix ${CMAKE_INSTALL_PREFIX})
  set(boba_pc_libdir ${CMAKE_INSTALL_FULL_LIBDIR})
  set(boba_pc_includedir ${CMAKE_INSTALL_FULL_INCLUDEDIR})
else()
  file(RELATIVE_PATH up /${boba_pc_dir} /)
  string(REGEX REPLACE "/$" "" up "${up}")
  set(boba_pc_prefix "\${pcfiledir}/${up}")
  set(boba_pc_libdir "\${prefix}/${CMAKE_INSTALL_LIBDIR}")
  set(boba_pc_includedir "\${prefix}/${CMAKE_INSTALL_INCLUDEDIR}")
endif()
# A program in C that links the static library has to name what a C++ compiler adds by itself.
set(boba_pc_runtime "-pthread")
foreach(runtime stdc++ c++ m)
  if(runtime IN_LIST CMAKE_CXX_IMPLICIT_LINK_LIBRARIES)
    string(APPEND boba_pc_runtime " -l${runtime}")
  endif()
endforeach()
if(boba_cuda)
  string(APPEND boba_pc_runtime " -L${CUDAToolkit_LIBRARY_DIR} -lcudart_static -ldl -lrt")
endif()
if(BUILD_SHARED_LIBS)
  set(boba_pc_public "")
  set(boba_pc_private "Requires.private: fmt\nLibs.private: ${boba_pc_runtime}")
else()
  set(boba_pc_public " ${boba_pc_runtime}")
  set(boba_pc_private "Requires: fmt")
endif()
configure_file(${CMAKE_CURRENT_LIST_DIR}/boba.pc.in ${PROJECT_BINARY_DIR}/boba.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/boba.pc DESTINATION ${boba_pc_dir})
