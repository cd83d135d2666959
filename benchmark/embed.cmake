# cmake -DINPUT=page.html -DSTYLE=style.css -DSCRIPT=page.js -DPARTS=measured.js -DOUTPUT=page.inc -P embed.cmake: the bytes of
# a page as a C initializer list, with the style sheet in place of __STYLE__, the script that all pages share in that of
# __SCRIPT__, and that of this program's pages in that of __PARTS__.
file(READ ${INPUT} page)
file(READ ${STYLE} style)
file(READ ${SCRIPT} script)
file(READ ${PARTS} parts)
string(REPLACE "__STYLE__" "${style}" page "${page}")
string(REPLACE "__SCRIPT__" "${script}" page "${page}")
string(REPLACE "__PARTS__" "${parts}" page "${page}")
string(HEX "${page}" bytes)
string(REGEX REPLACE "([0-9a-f][0-9a-f])" "'\\\\x\\1'," bytes "${bytes}")
file(WRITE ${OUTPUT} "${bytes}\n")
