# Libraries from Debian (scripts/packages.txt lists their packages).
find_package(Threads REQUIRED)
find_package(Protobuf REQUIRED)
find_package(gRPC CONFIG REQUIRED)
find_package(absl CONFIG REQUIRED)
find_package(glog CONFIG REQUIRED)
find_package(yaml-cpp CONFIG REQUIRED)
find_package(nlohmann_json CONFIG REQUIRED)
find_package(CLI11 CONFIG REQUIRED)
find_package(ONNX CONFIG REQUIRED)
find_package(CURL REQUIRED)
find_package(OpenSSL REQUIRED)
find_package(SQLite3 REQUIRED)
find_package(JPEG REQUIRED)
find_package(PNG REQUIRED)
find_package(ZLIB REQUIRED)
find_package(GTest CONFIG REQUIRED)
find_package(benchmark CONFIG REQUIRED)
# libzip's own CMake config asks for its programs.
find_package(PkgConfig REQUIRED)
pkg_check_modules(LIBZIP REQUIRED IMPORTED_TARGET libzip)
pkg_check_modules(ISAL REQUIRED IMPORTED_TARGET libisal)

# oneDNN's own CMake config asks for OpenCL's headers, so it is found by hand.
find_path(DNNL_INCLUDE_DIR dnnl.hpp REQUIRED)
find_library(DNNL_LIBRARY dnnl REQUIRED)
add_library(dnnl::dnnl SHARED IMPORTED)
set_target_properties(dnnl::dnnl PROPERTIES
  IMPORTED_LOCATION ${DNNL_LIBRARY}
  INTERFACE_INCLUDE_DIRECTORIES ${DNNL_INCLUDE_DIR})

# LevelDB's asks for the headers of Snappy, which it needs for itself only.
find_path(LEVELDB_INCLUDE_DIR leveldb/table.h REQUIRED)
find_library(LEVELDB_LIBRARY leveldb REQUIRED)
add_library(leveldb::leveldb SHARED IMPORTED)
set_target_properties(leveldb::leveldb PROPERTIES
  IMPORTED_LOCATION ${LEVELDB_LIBRARY}
  INTERFACE_INCLUDE_DIRECTORIES ${LEVELDB_INCLUDE_DIR})

# Where nvcc and cuDNN are found, the CUDA plug-in is built; what is above it
# always is. The
# sanitizer presets leave it out: CUDA's runtime is not built for them, and no
# test there could reach it.
set(PACELINE_CUDA OFF)
if(NOT PACELINE_SANITIZE)
  include(CheckLanguage)
  check_language(CUDA)
  if(CMAKE_CUDA_COMPILER)
    # The target names the architectures.
    set(CMAKE_CUDA_ARCHITECTURES OFF)
    enable_language(CUDA)
    # CMake 3.25 does not know that nvcc has it.
    set(CMAKE_CUDA20_STANDARD_COMPILE_OPTION -std=c++20)
    find_package(CUDAToolkit REQUIRED)
    find_path(CUDNN_INCLUDE_DIR cudnn_v9.h HINTS ${CUDAToolkit_INCLUDE_DIRS})
    find_library(CUDNN_LIBRARY cudnn HINTS ${CUDAToolkit_LIBRARY_DIR})
    if(CUDNN_INCLUDE_DIR AND CUDNN_LIBRARY)
      set(PACELINE_CUDA ON)
    else()
      message(STATUS "cuDNN 9 is not found: the CUDA plug-in is not built")
    endif()
  else()
    message(STATUS "nvcc is not found: the CUDA plug-in is not built")
  endif()
endif()
