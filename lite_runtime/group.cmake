# -DMSLITE_OPERATORS=vision or a file: the archive is cropped to these operators once it is made, as mslite-crop does it for
# models, and the shared library is linked of what is left. docs/size.md.
if(MSLITE_PYTHON OR MSLITE_TESTS)
  message(FATAL_ERROR "MSLITE_OPERATORS=${MSLITE_OPERATORS}: the Python package and the tests need all operators; "
                      "build without -DMSLITE_PYTHON=ON and -DMSLITE_TESTS=ON")
endif()
execute_process(COMMAND ${Python3_EXECUTABLE} -c "import elftools" RESULT_VARIABLE status ERROR_QUIET)
if(NOT status EQUAL 0)
  message(FATAL_ERROR "MSLITE_OPERATORS=${MSLITE_OPERATORS} needs Python's pyelftools: "
                      "${Python3_EXECUTABLE} -m pip install pyelftools")
endif()
# The cropper, without the package's native modules.
set(CROPPING ${CMAKE_BINARY_DIR}/cropping)
file(MAKE_DIRECTORY ${CROPPING}/mslite)
file(TOUCH ${CROPPING}/mslite/__init__.py)
foreach(folder converter cropper)
  file(CREATE_LINK ${PROJECT_SOURCE_DIR}/${folder} ${CROPPING}/mslite/${folder} SYMBOLIC)
endforeach()
# A file may be named as it lies from the top of the sources.
set(GROUP ${MSLITE_OPERATORS})
if(EXISTS ${PROJECT_SOURCE_DIR}/${GROUP})
  set(GROUP ${PROJECT_SOURCE_DIR}/${GROUP})
endif()
set(GROUP_FILE ${PROJECT_SOURCE_DIR}/cropper/groups/${GROUP}.txt)
if(NOT EXISTS ${GROUP_FILE})
  set(GROUP_FILE ${GROUP})
endif()
if(NOT EXISTS ${GROUP_FILE})
  message(FATAL_ERROR "MSLITE_OPERATORS=${MSLITE_OPERATORS}: neither all, nor a group (cropper/groups/*.txt), nor a file "
                      "that lists operators")
endif()
set_property(TARGET mindspore-lite-static APPEND PROPERTY LINK_DEPENDS ${GROUP_FILE})
add_custom_command(TARGET mindspore-lite-static POST_BUILD
                   COMMAND ${CMAKE_COMMAND} -E env PYTHONPATH=${CROPPING} ${Python3_EXECUTABLE} -m mslite.cropper.group
                           $<TARGET_FILE:mindspore-lite-static> ${GROUP}
                   COMMENT "Cropping to the operators of ${GROUP}" VERBATIM)

file(WRITE ${CMAKE_CURRENT_BINARY_DIR}/no_source.cc "")
add_library(mindspore-lite SHARED ${CMAKE_CURRENT_BINARY_DIR}/no_source.cc)
add_dependencies(mindspore-lite mindspore-lite-static)
target_link_libraries(mindspore-lite PRIVATE -Wl,--whole-archive $<TARGET_FILE:mindspore-lite-static>
                                             -Wl,--no-whole-archive Threads::Threads ${CMAKE_DL_LIBS})
