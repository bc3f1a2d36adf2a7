# What the simulator links beside the library: archives, images, checksums, TOML, SQLite, LibTorch.
find_package(LibArchive REQUIRED)
find_package(ZLIB REQUIRED)
find_package(JPEG REQUIRED)
find_package(OpenSSL REQUIRED COMPONENTS Crypto)
find_package(tomlplusplus REQUIRED)
find_package(SQLite3 REQUIRED)
find_package(nlohmann_json REQUIRED)
# LibTorch's headers are not ours to warn about. Its BLAS is whatever the system's default is;
# linking OpenBLAS first makes it that one.
set(BOBA_TORCH "" CACHE PATH "Folder torch/ of a PyTorch package with CUDA; empty: the system's LibTorch")
find_library(BOBA_OPENBLAS openblas REQUIRED)
add_library(boba_torch INTERFACE)
target_link_libraries(boba_torch INTERFACE ${BOBA_OPENBLAS})
if(BOBA_TORCH)
  if(NOT EXISTS ${BOBA_TORCH}/include/torch/csrc/api/include/torch/torch.h
     OR NOT EXISTS ${BOBA_TORCH}/lib/libtorch.so)
    message(FATAL_ERROR "BOBA_TORCH=${BOBA_TORCH}: no include/torch/csrc/api/include/torch/torch.h or "
                        "no lib/libtorch.so in it; it must be the folder torch/ of a PyTorch package")
  endif()
  # The package's own CMake files ask for a CUDA toolkit of its version; headers and libraries are
  # all that is needed. What the libraries need in turn is found when they are loaded.
  target_include_directories(boba_torch SYSTEM INTERFACE
                             ${BOBA_TORCH}/include ${BOBA_TORCH}/include/torch/csrc/api/include)
  # Its headers bring a fmt of their own along, which shadows the system's but has no library.
  target_compile_definitions(boba_torch INTERFACE FMT_HEADER_ONLY=1)
  file(GLOB boba_torch_cuda ${BOBA_TORCH}/lib/libtorch_cuda.so ${BOBA_TORCH}/lib/libc10_cuda.so)
  target_link_libraries(boba_torch INTERFACE
                        -Wl,--no-as-needed ${boba_torch_cuda} ${BOBA_TORCH}/lib/libtorch.so
                        ${BOBA_TORCH}/lib/libtorch_cpu.so ${BOBA_TORCH}/lib/libc10.so
                        -Wl,--as-needed -Wl,--allow-shlib-undefined)
else()
  find_package(Torch REQUIRED)
  target_include_directories(boba_torch SYSTEM INTERFACE ${TORCH_INCLUDE_DIRS})
  target_link_libraries(boba_torch INTERFACE ${TORCH_LIBRARIES})
endif()

# Two libraries of OpenCV are enough; its CMake package is in Debian's package of all of them.
find_path(BOBA_OPENCV_INCLUDE opencv2/imgproc.hpp PATH_SUFFIXES opencv4 REQUIRED)
foreach(part core imgproc)
  if(NOT TARGET opencv_${part})
    find_library(BOBA_OPENCV_${part} opencv_${part} REQUIRED)
    add_library(opencv_${part} UNKNOWN IMPORTED)
    set_target_properties(opencv_${part} PROPERTIES
                          IMPORTED_LOCATION ${BOBA_OPENCV_${part}}
                          INTERFACE_INCLUDE_DIRECTORIES ${BOBA_OPENCV_INCLUDE})
  endif()
endforeach()
