# One target a folder. A folder's files say by their names what they are:
#   x.cc          part of the library
#   x_test.cc     part of <target>_test, run by ctest
#   x_testing.cc  what the tests work with, part of <target>_test
#   x_bench.cc    part of <target>_bench, run by `make bench`
#   x_fuzz.cc     one libFuzzer program each, built with KOORD_FUZZ
# Tests and benchmarks are not part of `all`, which is the programs: `tests` and `benches` build them.
# DEPS lists the koord_* targets that the folder may see; LIBS the outside libraries.

add_custom_target(tests)
add_custom_target(benches)

function(koord_library name)
  cmake_parse_arguments(ARG "TEST_ONLY" "" "DEPS;LIBS;TEST_DEPS" ${ARGN})
  file(GLOB sources CONFIGURE_DEPENDS "*.cc")
  file(GLOB tests CONFIGURE_DEPENDS "*_test.cc" "*_testing.cc")
  file(GLOB benches CONFIGURE_DEPENDS "*_bench.cc")
  file(GLOB fuzzers CONFIGURE_DEPENDS "*_fuzz.cc")
  if(tests OR benches OR fuzzers)
    list(REMOVE_ITEM sources ${tests} ${benches} ${fuzzers})
  endif()
  if(sources)
    add_library(${name} STATIC ${sources})
    set(scope PUBLIC)
  else()
    add_library(${name} INTERFACE)
    set(scope INTERFACE)
  endif()
  if(ARG_TEST_ONLY)
    set_target_properties(${name} PROPERTIES EXCLUDE_FROM_ALL TRUE)
  endif()
  target_include_directories(${name} ${scope} "${CMAKE_SOURCE_DIR}/src")
  target_link_libraries(${name} ${scope} ${ARG_DEPS} ${ARG_LIBS})
  if(sources AND ARG_DEPS)
    koord_common_headers(${name})
  endif()
  if(tests)
    koord_test(${name}_test SOURCES ${tests} DEPS ${name} ${ARG_TEST_DEPS})
  endif()
  if(benches)
    add_executable(${name}_bench EXCLUDE_FROM_ALL ${benches})
    target_link_libraries(${name}_bench PRIVATE ${name} ${ARG_TEST_DEPS}
                          benchmark::benchmark_main GTest::gtest)
    add_dependencies(benches ${name}_bench)
  endif()
  if(KOORD_FUZZ)
    foreach(source ${fuzzers})
      get_filename_component(program ${source} NAME_WE)
      add_executable(${program} ${source})
      target_link_libraries(${program} PRIVATE ${name})
      target_link_options(${program} PRIVATE -fsanitize=fuzzer)
    endforeach()
  endif()
endfunction()

# The headers that everything above base/ includes are parsed once for all: without that they are most
# of the build's work. The one that makes them needs the same flags as those that use them.
function(koord_common_headers name)
  if(KOORD_FUZZ)
    return()  # clang wants the flags to agree to the letter
  endif()
  if(name MATCHES "^koord_base")
    return()  # knows no JSON, which is among them
  endif()
  if(NOT TARGET koord_common_headers)
    file(WRITE "${CMAKE_BINARY_DIR}/common_headers.cc" "")
    add_library(koord_common_headers OBJECT "${CMAKE_BINARY_DIR}/common_headers.cc")
    target_include_directories(koord_common_headers PUBLIC "${CMAKE_SOURCE_DIR}/src")
    target_link_libraries(koord_common_headers PUBLIC koord_base Boost::json)
    target_precompile_headers(koord_common_headers PRIVATE
                              "${CMAKE_SOURCE_DIR}/src/base/common_headers.h")
  endif()
  target_precompile_headers(${name} REUSE_FROM koord_common_headers)
endfunction()

function(koord_test name)
  cmake_parse_arguments(ARG "" "" "SOURCES;DEPS" ${ARGN})
  add_executable(${name} EXCLUDE_FROM_ALL ${ARG_SOURCES})
  add_dependencies(tests ${name})
  target_compile_definitions(${name} PRIVATE KOORD_SOURCE_DIR="${CMAKE_SOURCE_DIR}")
  target_link_libraries(${name} PRIVATE ${ARG_DEPS} GTest::gmock GTest::gtest_main)
  koord_common_headers(${name})
  add_test(NAME ${name} COMMAND ${name})
  set_tests_properties(${name} PROPERTIES TIMEOUT 300)
endfunction()
