# C++ for messages and services of .proto files, next to the objects of the target that uses them:
#   koord_proto(koord_x_proto FILES a.proto)
# Include "a.pb.h" and "a.grpc.pb.h" in .cc files only: they are heavy.
find_package(Protobuf REQUIRED)
pkg_check_modules(GRPCPP REQUIRED IMPORTED_TARGET grpc++)
find_program(GRPC_CPP_PLUGIN grpc_cpp_plugin REQUIRED)

function(koord_proto name)
  cmake_parse_arguments(ARG "" "" "FILES" ${ARGN})
  set(out "${CMAKE_CURRENT_BINARY_DIR}/proto")
  file(MAKE_DIRECTORY "${out}")
  foreach(file ${ARG_FILES})
    get_filename_component(stem ${file} NAME_WE)
    set(made "${out}/${stem}.pb.cc" "${out}/${stem}.grpc.pb.cc")
    add_custom_command(
      OUTPUT ${made} "${out}/${stem}.pb.h" "${out}/${stem}.grpc.pb.h"
      COMMAND protobuf::protoc --proto_path=${CMAKE_CURRENT_SOURCE_DIR} --cpp_out=${out}
              --grpc_out=${out} --plugin=protoc-gen-grpc=${GRPC_CPP_PLUGIN} ${file}
      DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/${file}")
    list(APPEND sources ${made})
  endforeach()
  add_library(${name} STATIC ${sources})
  target_compile_options(${name} PRIVATE -w)
  target_include_directories(${name} SYSTEM PUBLIC "${out}")
  target_link_libraries(${name} PUBLIC PkgConfig::GRPCPP protobuf::libprotobuf)
endfunction()
