# Turns files into a C++ source, so that a program carries them along:
#   koord_embed(<target> <namespace::Function> <header> files...)
# defines `std::span<const koord::EmbeddedFile> Function()` (see base/embedded_file.h).
function(koord_embed target function header)
  string(REGEX REPLACE "^.*::" "" name "${function}")
  set(output "${CMAKE_CURRENT_BINARY_DIR}/${target}_${name}.cc")
  string(REPLACE ";" "|" files "${ARGN}")
  add_custom_command(
    OUTPUT "${output}"
    COMMAND ${CMAKE_COMMAND} -DOUTPUT=${output} -DFUNCTION=${function} -DHEADER=${header}
            "-DFILES=${files}" -P "${CMAKE_SOURCE_DIR}/cmake/WriteEmbedded.cmake"
    DEPENDS ${ARGN} "${CMAKE_SOURCE_DIR}/cmake/WriteEmbedded.cmake"
    VERBATIM)
  target_sources(${target} PRIVATE "${output}")
  koord_generated(${target}_${name} "${output}")
endfunction()
