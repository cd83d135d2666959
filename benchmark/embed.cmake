# cmake -DINPUT=page.html -DSTYLE=style.css -DSCRIPT=page.js -DPARTS=charts.js -DOUTPUT=page.inc -P embed.cmake: writes a
# page as a C initializer list. __STYLE__ is replaced by the style sheet, __SCRIPT__ by the script of all pages, and __PARTS__
# by the script of this program's pages.
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
