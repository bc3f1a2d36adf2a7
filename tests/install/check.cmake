# Installs to a temporary prefix, moves it, and builds and runs programs outside the tree: with
# find_package, and with pkg-config in C++ and C.
#
#   cmake -DBUILD=... -DCONFIG=... -DSOURCE=... -DWORK=... -DLIBDIR=... -DINCLUDEDIR=...
#         -DCC=... -DCXX=... -DPKG_CONFIG=... -P check.cmake

function(run)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE status OUTPUT_VARIABLE text ERROR_VARIABLE text)
  if(NOT status EQUAL 0)
    string(JOIN " " command ${ARGN})
    message(FATAL_ERROR "${command}\nended with ${status}\n${text}")
  endif()
endfunction()

function(pkg_config result)
  execute_process(COMMAND ${CMAKE_COMMAND} -E env PKG_CONFIG_PATH=${PREFIX}/${LIBDIR}/pkgconfig
                          ${PKG_CONFIG} ${ARGN} boba
                  RESULT_VARIABLE status OUTPUT_VARIABLE text ERROR_VARIABLE fault)
  if(NOT status EQUAL 0)
    message(FATAL_ERROR "pkg-config ${ARGN} boba: ${fault}")
  endif()
  separate_arguments(text UNIX_COMMAND "${text}")
  set(${result} ${text} PARENT_SCOPE)
endfunction()

file(REMOVE_RECURSE ${WORK})
run(${CMAKE_COMMAND} --install ${BUILD} --config "${CONFIG}" --prefix ${WORK}/first)
set(PREFIX ${WORK}/moved)
file(RENAME ${WORK}/first ${PREFIX})

# Nothing installed may point back at the sources or the build.
file(GLOB_RECURSE written ${PREFIX}/*.cmake ${PREFIX}/*.pc)
foreach(file IN LISTS written)
  file(READ ${file} text)
  foreach(path ${BUILD} ${SOURCE} ${WORK})
    string(FIND "${text}" "${path}/" place)
    if(NOT place EQUAL -1)
      message(FATAL_ERROR "${file} names ${path}")
    endif()
  endforeach()
endforeach()

# The headers need what was installed and nothing of the tree.
file(GLOB_RECURSE headers RELATIVE ${PREFIX}/${INCLUDEDIR} ${PREFIX}/${INCLUDEDIR}/*.h)
set(text "")
foreach(header IN LISTS headers)
  if(header MATCHES "^boba/(text|threads|algebra|dist|files)/|prepared_rows|open_round_state|_math")
    message(FATAL_ERROR "${header} is internal, but it was installed")
  endif()
  string(APPEND text "#include <${header}>\n")
endforeach()
file(WRITE ${WORK}/headers.cc "${text}")
run(${CXX} -std=c++20 -Wall -Wextra -Werror -fsyntax-only -I${PREFIX}/${INCLUDEDIR} ${WORK}/headers.cc)

set(outside ${SOURCE}/tests/install/outside)
run(${CMAKE_COMMAND} -S ${outside} -B ${WORK}/cmake -DCMAKE_PREFIX_PATH=${PREFIX}
    -DCMAKE_C_COMPILER=${CC} -DCMAKE_CXX_COMPILER=${CXX} -DCMAKE_BUILD_TYPE=Release)
run(${CMAKE_COMMAND} --build ${WORK}/cmake)
run(${WORK}/cmake/outside_cxx)
run(${WORK}/cmake/outside_c)

if(NOT PKG_CONFIG)
  message("pkg-config is not installed: its part was not run")
  return()
endif()
pkg_config(version --modversion)
pkg_config(cflags --cflags)
pkg_config(libs --libs)
# Where the library is shared, its programs have to find it.
set(ENV{LD_LIBRARY_PATH} "${PREFIX}/${LIBDIR}:$ENV{LD_LIBRARY_PATH}")
run(${CXX} -std=c++20 -Wall -Wextra -Werror ${outside}/main.cc -o ${WORK}/pkg_cxx ${cflags} ${libs})
run(${WORK}/pkg_cxx)
run(${CC} -std=c11 -Wall -Wextra -Werror ${outside}/main.c -o ${WORK}/pkg_c ${cflags} ${libs})
run(${WORK}/pkg_c)
file(REMOVE_RECURSE ${WORK})
