# A library of messages and services from a .proto file. Its headers are found by the file's name:
# "runtime_hook.grpc.pb.h".
find_program(PROTOC protoc REQUIRED)
find_program(GRPC_CPP_PLUGIN grpc_cpp_plugin REQUIRED)
pkg_check_modules(GRPC REQUIRED grpc++ protobuf)

function(koord_grpc_library name proto)
  get_filename_component(stem ${proto} NAME_WE)
  set(folder "${CMAKE_CURRENT_BINARY_DIR}/generated")
  set(sources "${folder}/${stem}.pb.cc" "${folder}/${stem}.grpc.pb.cc")
  file(MAKE_DIRECTORY "${folder}")
  add_custom_command(
    OUTPUT ${sources} "${folder}/${stem}.pb.h" "${folder}/${stem}.grpc.pb.h"
    COMMAND ${PROTOC} --proto_path=${CMAKE_CURRENT_SOURCE_DIR} --cpp_out=${folder}
            --grpc_out=${folder} --plugin=protoc-gen-grpc=${GRPC_CPP_PLUGIN} ${proto}
    DEPENDS ${proto}
    WORKING_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR}
    VERBATIM)
  add_library(${name} STATIC ${sources})
  target_compile_options(${name} PRIVATE -w)
  target_include_directories(${name} SYSTEM PUBLIC "${folder}")
  target_link_libraries(${name} PUBLIC grpc++ grpc gpr protobuf)
endfunction()
