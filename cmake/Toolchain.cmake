# Language level, warnings, hardening, and the optional accelerators of the build itself.
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/bin")
if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release)
endif()
set(CMAKE_CXX_FLAGS_RELEASE "-O2")
set(CMAKE_CXX_FLAGS_DEBUG "-O0 -g")

add_compile_options(-Wall -Wextra -Werror -Wformat=2 -Wnon-virtual-dtor -Woverloaded-virtual)
# Designated initializers name what they set and leave the rest at its default, on purpose.
add_compile_options(-Wno-missing-field-initializers)
# GCC 12 reports these inside its own and Boost's inlined headers, for code that is right.
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  add_compile_options(-Wno-restrict -Wno-maybe-uninitialized -Wno-array-bounds
                      -Wno-stringop-overflow -Wno-stringop-overread -Wno-dangling-pointer
                      -Wno-free-nonheap-object)
endif()

# For libraries too, which only programs are made of: then all objects can share one set of
# precompiled headers, and nobody pays for calls that could be redirected.
add_compile_options(-fPIE)

set(KOORD_SANITIZE "" CACHE STRING "Sanitizers to build with: see CMakePresets.json")
option(KOORD_COMPILE_TOGETHER "Compile the files of a folder several at a time" ON)
set(KOORD_FUZZ OFF CACHE BOOL "Build the libFuzzer targets (clang only)")
if(KOORD_SANITIZE)
  # -O1 finds as much as -O2, compiles in far less time, and its stack traces are easier to follow.
  add_compile_options(-fsanitize=${KOORD_SANITIZE} -fno-sanitize-recover=all -O1
                      -fno-omit-frame-pointer -g1)
  add_link_options(-fsanitize=${KOORD_SANITIZE})
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    add_compile_options(-Wno-uninitialized)  # as above, with the sanitizers' own code
  endif()
  if(KOORD_SANITIZE MATCHES "thread")
    # It knows no fences. Asio needs none on this machine, as it also takes locks.
    add_compile_definitions(BOOST_ASIO_DISABLE_FENCED_BLOCK)
  endif()
elseif(CMAKE_BUILD_TYPE STREQUAL "Release")
  add_compile_options(-U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=3 -D_GLIBCXX_ASSERTIONS
                      -fstack-protector-strong -fstack-clash-protection -fcf-protection=full
                      -ftrivial-auto-var-init=zero)
  add_link_options(-pie -Wl,-z,relro,-z,now,-z,noexecstack)
endif()
add_compile_options(-ffile-prefix-map=${CMAKE_SOURCE_DIR}/=)

# RE2 asks for it, and precompiled headers want the same flags everywhere.
add_compile_options(-pthread)

find_program(CCACHE ccache)
if(CCACHE)
  # Precompiled headers are cached only with this sloppiness. What one checkout has compiled without
  # them serves others in other folders.
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env
      CCACHE_SLOPPINESS=pch_defines,time_macros CCACHE_BASEDIR=${CMAKE_SOURCE_DIR} "${CCACHE}")
  add_compile_options($<$<CXX_COMPILER_ID:GNU>:-fpch-preprocess>
                      "$<$<CXX_COMPILER_ID:Clang>:SHELL:-Xclang -fno-pch-timestamp>")
endif()
find_program(MOLD mold)
if(MOLD)
  add_link_options(-fuse-ld=mold)
endif()
