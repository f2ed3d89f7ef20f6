# Libraries from Debian (scripts/packages.txt lists their packages).
find_package(Threads REQUIRED)
find_package(Protobuf REQUIRED)
find_package(gRPC CONFIG REQUIRED)
find_package(absl CONFIG REQUIRED)
find_package(glog CONFIG REQUIRED)
find_package(yaml-cpp CONFIG REQUIRED)
find_package(nlohmann_json CONFIG REQUIRED)
find_package(CLI11 CONFIG REQUIRED)
find_package(ZLIB REQUIRED)
find_package(GTest CONFIG REQUIRED)
find_package(benchmark CONFIG REQUIRED)

# oneDNN's own CMake config asks for OpenCL's headers, so it is found by hand.
find_path(DNNL_INCLUDE_DIR dnnl.hpp REQUIRED)
find_library(DNNL_LIBRARY dnnl REQUIRED)
add_library(dnnl::dnnl SHARED IMPORTED)
set_target_properties(dnnl::dnnl PROPERTIES
  IMPORTED_LOCATION ${DNNL_LIBRARY}
  INTERFACE_INCLUDE_DIRECTORIES ${DNNL_INCLUDE_DIR})
