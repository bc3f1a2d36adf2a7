# boba_embed(TARGET NAMESPACE FUNCTION BASE FILES...): puts the text of FILES into TARGET. FUNCTION, in
# NAMESPACE, returns them as a span of boba::EmbeddedFile (boba/files/embedded.h), sorted by path;
# paths are relative to the folder BASE.
#
# With -DOUTPUT=... -DNAMESPACE=... -DFUNCTION=... -DBASE=... -DFILES=... -P it writes the source.
if(CMAKE_SCRIPT_MODE_FILE STREQUAL CMAKE_CURRENT_LIST_FILE)
  set(source "#include \"boba/files/embedded.h\"\n\nnamespace ${NAMESPACE} {\n\n")
  string(APPEND source "std::span<const boba::EmbeddedFile> ${FUNCTION}() {\n")
  string(APPEND source "  static constexpr boba::EmbeddedFile kFiles[] = {\n")
  foreach(file IN LISTS FILES)
    file(READ "${BASE}/${file}" text)
    string(APPEND source "      {\"${file}\", R\"file--(${text})file--\"},\n")
  endforeach()
  string(APPEND source "  };\n  return kFiles;\n}\n\n}  // namespace ${NAMESPACE}\n")
  file(WRITE "${OUTPUT}" "${source}")
  return()
endif()

set(boba_embed_script ${CMAKE_CURRENT_LIST_FILE})
function(boba_embed target namespace function base)
  list(TRANSFORM ARGN PREPEND "${base}/" OUTPUT_VARIABLE depends)
  set(output ${CMAKE_CURRENT_BINARY_DIR}/${function}.cc)
  add_custom_command(
    OUTPUT ${output}
    COMMAND ${CMAKE_COMMAND} -DOUTPUT=${output} -DNAMESPACE=${namespace} -DFUNCTION=${function}
            -DBASE=${base} "-DFILES=${ARGN}" -P ${boba_embed_script}
    DEPENDS ${depends} ${boba_embed_script}
    COMMENT "Embedding files for ${function}()"
    VERBATIM)
  target_sources(${target} PRIVATE ${output})
endfunction()
