# One target a folder. A folder's files say by their names what they are:
#   x.cc          part of the library
#   x_test.cc     part of a test program, run by ctest; its names are in a namespace x_test, so that
#                 it can be compiled together with others
#   x_testing.cc  what the tests work with, part of the same program
#   x_bench.cc    part of <target>_bench, run by `make bench`
#   x_fuzz.cc     one libFuzzer program each, built with KOORD_FUZZ; corpus/x_fuzz/ holds inputs that it
#                 starts with
# Tests and benchmarks are not part of `all`, which is the programs: `tests` and `benches` build them,
# as `fuzzers` does the fuzz targets.
# DEPS lists the koord_* targets that the folder may see; LIBS the outside libraries, BENCH_LIBS those
# of the benchmarks only; TEST_DEPS and FUZZ_DEPS what only the tests or the fuzz targets work with.
#
# The test program is <target>_test, or that of koord_begin_joint_tests. One that takes more than half
# a minute has a COST, roughly the seconds, so that it starts first.

add_custom_target(tests)
add_custom_target(benches)
add_custom_target(fuzzers)
add_custom_target(generated)  # the sources that the build writes, for scripts/lint.py

# koord_generated(<target> files...): they are made by custom commands of this folder
function(koord_generated name)
  add_custom_target(${name}_generated DEPENDS ${ARGN})
  set_target_properties(${name}_generated PROPERTIES KOORD_MADE_FOR_FOLDER TRUE)
  add_dependencies(generated ${name}_generated)
endfunction()

# The tests of all folders that are added between these two become one program: a small program
# takes longer to build than to be part of a larger one.
macro(koord_begin_joint_tests name)
  set(KOORD_JOINT_TESTS ${name})
endmacro()

macro(koord_end_joint_tests)
  get_property(sources GLOBAL PROPERTY ${KOORD_JOINT_TESTS}_sources)
  get_property(deps GLOBAL PROPERTY ${KOORD_JOINT_TESTS}_deps)
  koord_test(${KOORD_JOINT_TESTS} SOURCES ${sources} DEPS ${deps})
  unset(KOORD_JOINT_TESTS)
endmacro()

function(koord_library name)
  cmake_parse_arguments(ARG "TEST_ONLY;OWN_HEADERS" "" "DEPS;LIBS;TEST_DEPS;BENCH_LIBS;FUZZ_DEPS" ${ARGN})
  file(GLOB sources CONFIGURE_DEPENDS "*.cc")
  file(GLOB tests CONFIGURE_DEPENDS "*_test.cc" "*_testing.cc")
  file(GLOB benches CONFIGURE_DEPENDS "*_bench.cc")
  file(GLOB fuzzers CONFIGURE_DEPENDS "*_fuzz.cc")
  if(tests OR benches OR fuzzers)
    list(REMOVE_ITEM sources ${tests} ${benches} ${fuzzers})
  endif()
  if(sources)
    add_library(${name} STATIC ${sources})
    koord_compile_together(${name})
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
  set_target_properties(${name} PROPERTIES KOORD_TEST_DEPS "${ARG_TEST_DEPS}"
                        KOORD_BENCH_DEPS "${ARG_TEST_DEPS};${ARG_BENCH_LIBS}"
                        KOORD_FUZZ_DEPS "${ARG_FUZZ_DEPS}" KOORD_TEST_ONLY "${ARG_TEST_ONLY}")
  if(sources AND ARG_DEPS AND NOT ARG_OWN_HEADERS)
    koord_precompile_headers(${name})
  endif()
  if(tests AND KOORD_JOINT_TESTS)
    set_property(GLOBAL APPEND PROPERTY ${KOORD_JOINT_TESTS}_sources ${tests})
    set_property(GLOBAL APPEND PROPERTY ${KOORD_JOINT_TESTS}_deps ${name} ${ARG_TEST_DEPS})
  elseif(tests)
    koord_test(${name}_test SOURCES ${tests} DEPS ${name} ${ARG_TEST_DEPS})
  endif()
  if(benches)
    add_executable(${name}_bench EXCLUDE_FROM_ALL ${benches})
    target_link_libraries(${name}_bench PRIVATE ${name} ${ARG_TEST_DEPS}
                          ${ARG_BENCH_LIBS} benchmark::benchmark_main GTest::gtest)
    set_target_properties(${name}_bench PROPERTIES KOORD_MADE_FOR_FOLDER TRUE)
    add_dependencies(benches ${name}_bench)
  endif()
  if(KOORD_FUZZ)
    foreach(source ${fuzzers})
      get_filename_component(program ${source} NAME_WE)
      add_executable(${program} EXCLUDE_FROM_ALL ${source})
      target_link_libraries(${program} PRIVATE ${name} ${ARG_FUZZ_DEPS})
      target_link_options(${program} PRIVATE -fsanitize=fuzzer)
      set_target_properties(${program} PROPERTIES KOORD_MADE_FOR_FOLDER TRUE)
      add_dependencies(fuzzers ${program})
      if(ARG_DEPS)
        koord_precompile_headers(${program})
      endif()
    endforeach()
  endif()
endfunction()

# A folder's files are compiled several at a time, which saves a third of the work of a first build;
# the debug preset, for those who change a file and build again, takes them one by one.
function(koord_compile_together name)
  set_target_properties(${name} PROPERTIES UNITY_BUILD ${KOORD_COMPILE_TOGETHER}
                        UNITY_BUILD_BATCH_SIZE 8)
  if(KOORD_COMPILE_TOGETHER AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    # It takes the files that are compiled together for headers, which had better not do that.
    target_compile_options(${name} PRIVATE -Wno-subobject-linkage)
  endif()
endfunction()

# Headers that nearly everyone includes are parsed once for all: without that they are most of the
# build's work. There are three sets, each with the flags of those that use it: for kube/, for
# what stands on kube/, and for the tests.
function(koord_precompile_headers name)
  if(name MATCHES "^koord_base")
    return()  # knows no JSON, which is among them
  elseif(name MATCHES "_test$")
    koord_header_set(koord_test_headers kube/test_headers.h ${name})
  elseif(name MATCHES "^koord_kube")
    koord_header_set(koord_common_headers base/common_headers.h ${name})
  else()
    koord_header_set(koord_object_headers kube/object_headers.h ${name})
  endif()
endfunction()

function(koord_header_set set header user)
  if(NOT TARGET ${set})
    file(WRITE "${CMAKE_BINARY_DIR}/${set}.cc" "")
    add_library(${set} OBJECT EXCLUDE_FROM_ALL "${CMAKE_BINARY_DIR}/${set}.cc")
    set_target_properties(${set} PROPERTIES KOORD_MADE_FOR_FOLDER TRUE)
    target_include_directories(${set} PUBLIC "${CMAKE_SOURCE_DIR}/src")
    target_link_libraries(${set} PUBLIC koord_base Boost::json)
    if(set STREQUAL "koord_test_headers")
      target_link_libraries(${set} PUBLIC GTest::gmock)
      koord_test_options(${set})
    endif()
    target_precompile_headers(${set} PRIVATE "<${header}>")
  endif()
  target_precompile_headers(${user} REUSE_FROM ${set})
endfunction()

# The code under test is compiled as it ships; what tests it need not be as fast, but soon built.
function(koord_test_options name)
  if(KOORD_SANITIZE)
    # Checks of every operation are for what ships; in tests they would be most of the build.
    target_compile_options(${name} PRIVATE -O0 -fno-sanitize=undefined
                           -fno-sanitize=float-cast-overflow,float-divide-by-zero)
  elseif(CMAKE_BUILD_TYPE STREQUAL "Release")
    target_compile_options(${name} PRIVATE -Og)
  endif()
endfunction()

function(koord_test name)
  cmake_parse_arguments(ARG "" "" "SOURCES;DEPS" ${ARGN})
  add_executable(${name} EXCLUDE_FROM_ALL ${ARG_SOURCES})
  add_dependencies(tests ${name})
  list(REMOVE_DUPLICATES ARG_DEPS)
  target_link_libraries(${name} PRIVATE ${ARG_DEPS} GTest::gmock GTest::gtest_main)
  set_target_properties(${name} PROPERTIES KOORD_MADE_FOR_FOLDER TRUE)
  koord_compile_together(${name})
  koord_test_options(${name})
  koord_precompile_headers(${name})
  add_test(NAME ${name} COMMAND ${name})
  # Only to end what would never end: sanitized programs on a busy machine take their time.
  set_tests_properties(${name} PROPERTIES TIMEOUT 1800)
endfunction()
