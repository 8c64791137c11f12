# A library of messages and services from a .proto file. Its headers are found by the file's name:
# "runtime_hook.grpc.pb.h". Include them in .cc files only: they are heavy.
#
# gRPC is linked into the program, and without TLS, since it speaks over Unix sockets only: the shared
# library alone would be a third of the memory that koordlet may have.
find_program(PROTOC protoc REQUIRED)
find_program(GRPC_CPP_PLUGIN grpc_cpp_plugin REQUIRED)
pkg_check_modules(GRPC REQUIRED grpc++_unsecure)
set(GRPC_SHARED ${GRPC_LIBRARIES})
list(FILTER GRPC_SHARED EXCLUDE REGEX "grpc|gpr")
set(GRPC_LINKED libgrpc++_unsecure.a libgrpc_unsecure.a libgpr.a libupb.a libaddress_sorting.a
                libcares.a libre2.a libprotobuf.a libz.a ${GRPC_SHARED})

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
  koord_generated(${name} ${sources})
  target_compile_options(${name} PRIVATE -w)
  target_include_directories(${name} SYSTEM PUBLIC "${folder}")
  target_link_libraries(${name} PUBLIC ${GRPC_LINKED})
endfunction()
