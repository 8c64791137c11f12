# Everything here is a Debian 12 package; docs/dependencies.md says what each is for.
# Some packages ask for -pthread, and precompiled headers want the same flags everywhere.
set(THREADS_PREFER_PTHREAD_FLAG ON)
find_package(Threads REQUIRED)
find_package(Boost 1.81 REQUIRED COMPONENTS json url)
find_package(OpenSSL REQUIRED)
find_package(SQLite3 REQUIRED)
find_package(absl REQUIRED)
find_package(fmt REQUIRED)
find_package(yaml-cpp REQUIRED)
find_package(CLI11 REQUIRED)
find_package(prometheus-cpp REQUIRED)
find_package(GTest REQUIRED)
find_package(benchmark REQUIRED)
find_package(PkgConfig REQUIRED)
pkg_check_modules(RE2 REQUIRED IMPORTED_TARGET re2)
# Its -pthread would set it apart from the precompiled headers; Threads::Threads links what is needed.
set_property(TARGET PkgConfig::RE2 PROPERTY INTERFACE_COMPILE_OPTIONS)
