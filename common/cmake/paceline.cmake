# Build settings, and the functions by which folders declare their targets.

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin)
set(CMAKE_POSITION_INDEPENDENT_CODE OFF)
# Where programs find our plug-ins: beside them, and tests among the programs.
set(CMAKE_BUILD_RPATH "$ORIGIN;$ORIGIN/../bin")
# `#pragma omp simd` vectorises a loop; square roots and comparisons may be part
# of it, since nobody reads errno or the floating-point exceptions.
set(ARITHMETIC -fno-math-errno -fno-trapping-math)
if(NOT PACELINE_SANITIZE MATCHES thread)
  # The thread sanitizer checks the access of a vector several times more slowly.
  list(PREPEND ARITHMETIC -fopenmp-simd)
endif()
add_compile_options("$<$<COMPILE_LANGUAGE:C,CXX>:${ARITHMETIC};-pthread>")

find_program(CCACHE ccache)
if(CCACHE)
  # What ccache must overlook to keep objects that use a precompiled header.
  set(CMAKE_CXX_COMPILER_LAUNCHER env CCACHE_SLOPPINESS=pch_defines,time_macros ${CCACHE})
  set(CMAKE_CUDA_COMPILER_LAUNCHER ${CCACHE})
  add_compile_options($<$<COMPILE_LANGUAGE:C,CXX>:-fpch-preprocess>)
endif()

find_program(MOLD mold)
if(MOLD)
  add_link_options(-fuse-ld=mold)
endif()

set(PACELINE_WARNINGS -Wall -Wextra -Werror)
if(CMAKE_CXX_COMPILER_ID MATCHES Clang)
  # Checks the lock annotations of common/base/mutex.h.
  list(APPEND PACELINE_WARNINGS -Wthread-safety)
endif()
set(PACELINE_SANITIZE "" CACHE STRING "Comma-separated sanitizers, as for -fsanitize=")
if(PACELINE_SANITIZE)
  add_compile_options(-fsanitize=${PACELINE_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  # GCC does not see there that LOG(FATAL) never returns.
  list(APPEND PACELINE_WARNINGS -Wno-return-type)
  add_link_options(-fsanitize=${PACELINE_SANITIZE})
endif()
if(PACELINE_SANITIZE MATCHES undefined)
  # These check each access, which takes a quarter of the time of a build. The address
  # sanitizer reports a null pointer that is used, too. Nobody checks alignment, which
  # x86-64 does not need, nor the types of objects with virtual functions.
  add_compile_options(-fno-sanitize=null,alignment,vptr)
endif()

# Sanitizers build with clang, whose precompiled headers they need for the time.
if(PACELINE_SANITIZE AND CMAKE_CXX_COMPILER_ID MATCHES Clang)
  # Clang 14 lacks GCC's macros. It says where it does not vectorise.
  if(PACELINE_SANITIZE MATCHES address)
    add_compile_options(-D__SANITIZE_ADDRESS__)
  elseif(PACELINE_SANITIZE MATCHES thread)
    add_compile_options(-D__SANITIZE_THREAD__)
  endif()
  add_compile_options(-Wno-pass-failed)
  # ccache keeps precompiled headers that do not hold the times of their files.
  add_compile_options("SHELL:-Xclang -fno-pch-timestamp")
endif()

# Clang has libFuzzer, so the preset `asan` builds tests/fuzz.
# paceline_fuzzed(): the code of this folder and below tells the fuzzers what it
# reaches. Not that of devices, whose loops would be slower for nothing.
set(PACELINE_FUZZ OFF)
if(PACELINE_SANITIZE MATCHES address AND CMAKE_CXX_COMPILER_ID MATCHES Clang)
  set(PACELINE_FUZZ ON)
endif()
macro(paceline_fuzzed)
  if(PACELINE_FUZZ)
    set(PACELINE_FUZZED ON)
    add_compile_options(-fsanitize=fuzzer-no-link)
  endif()
endmacro()

# What tests find in their environment. OpenMP's threads leave their core to others
# while they wait, as in the worker. tests/sanitizers says which findings in
# foreign libraries are none; libgomp is not built for the thread sanitizer, so
# oneDNN computes on one thread there. gRPC never joins its threads.
set(PACELINE_TEST_ENVIRONMENT OMP_WAIT_POLICY=PASSIVE)
set(SUPPRESSIONS ${CMAKE_SOURCE_DIR}/tests/sanitizers)
if(PACELINE_SANITIZE MATCHES thread)
  add_compile_options("SHELL:$<$<COMPILE_LANGUAGE:CXX>:-include ${SUPPRESSIONS}/protobuf_map_layout.h>")
  list(APPEND PACELINE_TEST_ENVIRONMENT
    "TSAN_OPTIONS=suppressions=${SUPPRESSIONS}/tsan.supp:ignore_noninstrumented_modules=1:second_deadlock_stack=1:report_thread_leaks=0:history_size=7"
    OMP_NUM_THREADS=1)
elseif(PACELINE_SANITIZE MATCHES address)
  list(APPEND PACELINE_TEST_ENVIRONMENT
    "ASAN_OPTIONS=detect_stack_use_after_return=1:strict_string_checks=1"
    "LSAN_OPTIONS=suppressions=${SUPPRESSIONS}/lsan.supp:print_suppressions=0"
    UBSAN_OPTIONS=print_stacktrace=1)
endif()

# Most of the compiler's time goes into headers, which it reads once for several
# files of a library so. Under the sanitizers that pays for more files, and nobody
# waits there for the build of a change.
option(PACELINE_FAST_BUILD "Precompile headers and join files; clang-tidy wants neither" ON)
set(PACELINE_FILES_AT_ONCE 8)
if(PACELINE_SANITIZE)
  set(PACELINE_FILES_AT_ONCE 16)
endif()

# The headers that nearly every file includes are compiled once for our libraries
# and programs, and once more for the tests; under the sanitizers also for code that is
# not optimised and for code that is fuzzed, since clang wants the same options. A file
# with options of its own must set SKIP_PRECOMPILE_HEADERS. clang-tidy's build reads
# each file for itself, and so shows what it forgets to include. The tests' own code is not optimised: it
# would cost a third of their build.
set(PACELINE_TEST_OPTIONS -O0)
set(PACELINE_HEADERS
  <algorithm> <cstdint> <functional> <map> <memory> <optional> <string> <utility> <vector>
  <glog/logging.h> <absl/status/status.h> <absl/status/statusor.h> <absl/strings/str_cat.h>
  <absl/time/clock.h> <absl/types/span.h>
  <paceline/v1/coordinator.pb.h> <paceline/v1/job.pb.h> <paceline/v1/ps.pb.h>)
function(paceline_precompiled_headers name headers)
  cmake_parse_arguments(ARG "" "" "DEPS;OPTIONS" ${ARGN})
  if(NOT PACELINE_FAST_BUILD)
    return()
  endif()
  if(PACELINE_FUZZED)
    string(APPEND headers _fuzzed)
  endif()
  if(NOT TARGET ${headers})
    file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/${headers}.cc CONTENT "")
    add_library(${headers} OBJECT ${CMAKE_BINARY_DIR}/${headers}.cc)
    target_link_libraries(${headers} PRIVATE
      paceline_proto glog::glog absl::statusor absl::time absl::span ${ARG_DEPS})
    target_compile_options(${headers} PRIVATE ${ARG_OPTIONS})
    target_precompile_headers(${headers} PRIVATE ${PACELINE_HEADERS} ${ARG_UNPARSED_ARGUMENTS})
    if(CCACHE)
      set_target_properties(${headers} PROPERTIES CXX_COMPILER_LAUNCHER
        "${CMAKE_SOURCE_DIR}/common/cmake/compile_header.sh;${CMAKE_CXX_COMPILER_LAUNCHER}")
    endif()
  endif()
  target_precompile_headers(${name} REUSE_FROM ${headers})
  target_include_directories(${name} SYSTEM PRIVATE
    $<TARGET_PROPERTY:paceline_proto,INTERFACE_INCLUDE_DIRECTORIES>)
endfunction()

# paceline_library(NAME SOURCES... [DEPS...] [OPTIMIZED]): one folder's code. With
# the sanitizers, only code with loops that take long is OPTIMIZED.
function(paceline_library name)
  cmake_parse_arguments(ARG "OPTIMIZED" "" "SOURCES;DEPS" ${ARGN})
  add_library(${name} STATIC ${ARG_SOURCES})
  target_include_directories(${name} PUBLIC ${CMAKE_SOURCE_DIR})
  target_compile_options(${name} PRIVATE ${PACELINE_WARNINGS})
  set(headers paceline_headers)
  set(options)
  if(PACELINE_SANITIZE AND NOT ARG_OPTIMIZED)
    set(headers paceline_unoptimised_headers)
    set(options -O0)
  endif()
  target_compile_options(${name} PRIVATE ${options})
  target_link_libraries(${name} PUBLIC ${ARG_DEPS})
  set_target_properties(${name} PROPERTIES
    UNITY_BUILD ${PACELINE_FAST_BUILD} UNITY_BUILD_BATCH_SIZE ${PACELINE_FILES_AT_ONCE})
  paceline_precompiled_headers(${name} ${headers} OPTIONS ${options})
endfunction()

# paceline_binary(NAME SOURCES... [DEPS...]): a program in build/<preset>/bin.
function(paceline_binary name)
  cmake_parse_arguments(ARG "" "" "SOURCES;DEPS" ${ARGN})
  add_executable(${name} ${ARG_SOURCES})
  target_include_directories(${name} PRIVATE ${CMAKE_SOURCE_DIR})
  target_compile_options(${name} PRIVATE ${PACELINE_WARNINGS})
  target_compile_definitions(${name} PRIVATE PACELINE_VERSION="${PACELINE_VERSION}")
  target_link_libraries(${name} PRIVATE ${ARG_DEPS})
  paceline_precompiled_headers(${name} paceline_headers)
endfunction()

# paceline_test(NAME SOURCES... DEPS... LABELS... [TIMEOUT SECONDS] [OPTIMIZED]):
# a GoogleTest program, one CTest entry a program. Target <label>_tests builds all
# of a label: `unit`, `conformance` (one device, one replica), `distributed` (several
# replicas, ranks or servers in one program), `simulation` or `integration`; beside
# it also `threads`, where code of ours runs in several threads or processes, so that
# the thread sanitizer may find something. With OPTIMIZED the test's own code is,
# which pays where that runs for longer than it compiles.
function(paceline_test name)
  cmake_parse_arguments(ARG "OPTIMIZED" "TIMEOUT" "SOURCES;DEPS;LABELS" ${ARGN})
  add_executable(${name} ${ARG_SOURCES})
  target_include_directories(${name} PRIVATE ${CMAKE_SOURCE_DIR})
  target_compile_options(${name} PRIVATE ${PACELINE_WARNINGS})
  target_compile_definitions(${name} PRIVATE
    PACELINE_SOURCE_DIR="${CMAKE_SOURCE_DIR}" PACELINE_BIN_DIR="${CMAKE_RUNTIME_OUTPUT_DIRECTORY}")
  target_link_libraries(${name} PRIVATE ${ARG_DEPS} GTest::gmock GTest::gtest_main)
  if(NOT ARG_OPTIMIZED)
    target_compile_options(${name} PRIVATE ${PACELINE_TEST_OPTIONS})
    paceline_precompiled_headers(${name} paceline_test_headers <gtest/gtest.h> <gmock/gmock.h>
      DEPS GTest::gmock OPTIONS ${PACELINE_TEST_OPTIONS})
  endif()
  set_target_properties(${name} PROPERTIES
    RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests UNITY_BUILD ${PACELINE_FAST_BUILD} UNITY_BUILD_BATCH_SIZE 0)
  add_test(NAME ${name} COMMAND ${name})
  if(NOT ARG_TIMEOUT)
    set(ARG_TIMEOUT 120)
  endif()
  # By COST, tests that may take long begin where several run at a time.
  set_tests_properties(${name} PROPERTIES
    LABELS "${ARG_LABELS}" TIMEOUT ${ARG_TIMEOUT} COST ${ARG_TIMEOUT} ENVIRONMENT "${PACELINE_TEST_ENVIRONMENT}")
  foreach(label IN LISTS ARG_LABELS)
    if(NOT TARGET ${label}_tests)
      add_custom_target(${label}_tests)
    endif()
    add_dependencies(${label}_tests ${name})
  endforeach()
endfunction()
