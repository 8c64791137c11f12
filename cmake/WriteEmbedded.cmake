# Run by koord_embed at build time. String literals are cut into pieces, since compilers limit them.
string(REPLACE "|" ";" FILES "${FILES}")
string(REGEX REPLACE "::[^:]*$" "" namespace "${FUNCTION}")
string(REGEX REPLACE "^.*::" "" name "${FUNCTION}")
set(entries "")
foreach(file ${FILES})
  file(READ "${file}" text)
  get_filename_component(base "${file}" NAME)
  string(LENGTH "${text}" length)
  set(literal "")
  set(at 0)
  while(at LESS length)
    string(SUBSTRING "${text}" ${at} 8000 piece)
    string(APPEND literal "R\"~~~(${piece})~~~\"\n")
    math(EXPR at "${at} + 8000")
  endwhile()
  string(APPEND entries "    {\"${base}\", ${literal}},\n")
endforeach()
file(WRITE "${OUTPUT}" "#include \"${HEADER}\"

namespace ${namespace} {

std::span<const koord::EmbeddedFile> ${name}() {
  static constexpr koord::EmbeddedFile kFiles[] = {
${entries}  };
  return kFiles;
}

}  // namespace ${namespace}
")
