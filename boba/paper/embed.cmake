# cmake -DFOLDER=experiments/paper -DOUTPUT=embedded.cc -P embed.cmake: a source file that holds the
# text of FOLDER/*.toml, FOLDER/*.csv and FOLDER/published/*.csv.
file(GLOB files RELATIVE ${FOLDER} ${FOLDER}/*.toml ${FOLDER}/*.csv ${FOLDER}/published/*.csv)
list(SORT files)
set(source "#include \"boba/paper/embedded.h\"\n\nnamespace boba::paper {\nnamespace {\n\n")
string(APPEND source "constexpr EmbeddedFile kFiles[] = {\n")
foreach(file IN LISTS files)
  file(READ "${FOLDER}/${file}" text)
  string(APPEND source "    {\"${file}\", R\"file--(${text})file--\"},\n")
endforeach()
string(APPEND source "};\n\n}  // namespace\n\n")
string(APPEND source "std::span<const EmbeddedFile> embedded_files() { return kFiles; }\n\n")
string(APPEND source "}  // namespace boba::paper\n")
file(WRITE "${OUTPUT}" "${source}")
