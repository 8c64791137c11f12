# Everything here is a Debian 12 package; docs/dependencies.md says what each is for.
find_package(Threads REQUIRED)
# JSON is a good part of what we do, and the linker can shorten the way to it.
set(Boost_USE_STATIC_LIBS ON)
find_package(Boost 1.81 REQUIRED COMPONENTS json url)
find_package(OpenSSL REQUIRED)
find_package(SQLite3 REQUIRED)
find_package(absl REQUIRED)
find_package(fmt REQUIRED)
find_package(CLI11 REQUIRED)
find_package(prometheus-cpp REQUIRED)
find_package(GTest REQUIRED)
find_package(benchmark REQUIRED)
find_package(PkgConfig REQUIRED)
pkg_check_modules(NGHTTP2 REQUIRED IMPORTED_TARGET libnghttp2)
pkg_check_modules(YAML REQUIRED IMPORTED_TARGET yaml-0.1)
pkg_check_modules(RE2 REQUIRED IMPORTED_TARGET re2)

# For the programs that read and write many objects: a quarter faster than with the C library's. It
# has to be linked whole, for nothing names it. The sanitizers bring an allocator of their own.
find_library(TCMALLOC libtcmalloc_minimal.a REQUIRED)
add_library(koord_allocator INTERFACE)
if(NOT KOORD_SANITIZE)
  target_link_options(koord_allocator INTERFACE
                      "LINKER:--whole-archive,${TCMALLOC},--no-whole-archive")
endif()
