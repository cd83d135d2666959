# cmake -DINPUT=page.html -DOUTPUT=page.inc -P embed.cmake: the bytes of a file as a C initialiser list.
file(READ ${INPUT} bytes HEX)
string(REGEX REPLACE "([0-9a-f][0-9a-f])" "'\\\\x\\1'," bytes "${bytes}")
file(WRITE ${OUTPUT} "${bytes}\n")
