# The engines that a library gets: DELEGATE_SOURCES, DELEGATE_INCLUDES and DELEGATE_DEFINITIONS.
set(DELEGATE ${PROJECT_SOURCE_DIR}/delegate)
file(GLOB DELEGATE_SOURCES CONFIGURE_DEPENDS ${DELEGATE}/*.cc ${DELEGATE}/engine/*.cc)
set(DELEGATE_INCLUDES ${DELEGATE} ${PROJECT_BINARY_DIR}/headers)
set(DELEGATE_DEFINITIONS "")  # of devices.cc alone, so that another choice of engines compiles little again

if(MSLITE_OPENCL)
  # Headers alone: the library of the driver is opened at run time.
  find_path(OPENCL_HEADERS CL/cl.h NO_CMAKE_FIND_ROOT_PATH)
  if(NOT OPENCL_HEADERS)
    message(STATUS "There is no CL/cl.h (Debian: opencl-c-headers): the library gets no OpenCL engine")
  endif()
endif()
if(MSLITE_OPENCL AND OPENCL_HEADERS)
  file(GLOB OPENCL_SOURCES CONFIGURE_DEPENDS ${DELEGATE}/opencl/*.cc ${DELEGATE}/opencl/operators/*.cc)
  file(MAKE_DIRECTORY ${PROJECT_BINARY_DIR}/headers)
  file(CREATE_LINK ${OPENCL_HEADERS}/CL ${PROJECT_BINARY_DIR}/headers/CL SYMBOLIC)
  # The kernels' sources travel in the library, as texts.
  file(GLOB OPENCL_KERNELS CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/kernels/gpu/*.cl)
  set(OPENCL_TEXTS ${PROJECT_BINARY_DIR}/generated/opencl_texts.cc)
  add_custom_command(
    OUTPUT ${OPENCL_TEXTS}
    COMMAND ${Python3_EXECUTABLE} ${DELEGATE}/opencl/texts.py ${OPENCL_TEXTS} ${OPENCL_KERNELS}
    DEPENDS ${DELEGATE}/opencl/texts.py ${OPENCL_KERNELS}
    VERBATIM)
  list(APPEND DELEGATE_SOURCES ${OPENCL_SOURCES} ${OPENCL_TEXTS})
  list(APPEND DELEGATE_DEFINITIONS MSLITE_OPENCL)
endif()

if(MSLITE_OPENVINO)
  # The library is opened at run time, and its functions are declared here: nothing of OpenVINO is needed to build.
  file(GLOB OPENVINO_SOURCES CONFIGURE_DEPENDS ${DELEGATE}/openvino/*.cc ${DELEGATE}/openvino/operators/*.cc)
  list(APPEND DELEGATE_SOURCES ${OPENVINO_SOURCES})
  list(APPEND DELEGATE_DEFINITIONS MSLITE_OPENVINO)
endif()

# Engines of phones, whose libraries are opened at run time, with functions that are declared here.
foreach(engine NNAPI NNRT)
  if(MSLITE_${engine})
    string(TOLOWER ${engine} folder)
    file(GLOB ENGINE_SOURCES CONFIGURE_DEPENDS ${DELEGATE}/${folder}/*.cc ${DELEGATE}/${folder}/operators/*.cc)
    list(APPEND DELEGATE_SOURCES ${ENGINE_SOURCES})
    list(APPEND DELEGATE_DEFINITIONS MSLITE_${engine})
  endif()
endforeach()

if(MSLITE_COREML)
  file(GLOB COREML_SOURCES CONFIGURE_DEPENDS ${DELEGATE}/coreml/*.cc ${DELEGATE}/coreml/operators/*.cc)
  if(APPLE)
    enable_language(OBJCXX)
    list(REMOVE_ITEM COREML_SOURCES ${DELEGATE}/coreml/coreml_elsewhere.cc)
    list(APPEND COREML_SOURCES ${DELEGATE}/coreml/coreml_runtime.mm)
    set_source_files_properties(${DELEGATE}/coreml/coreml_runtime.mm PROPERTIES COMPILE_OPTIONS -fobjc-arc)
    link_libraries("-framework CoreML" "-framework Foundation")
  endif()
  list(APPEND DELEGATE_SOURCES ${COREML_SOURCES})
  list(APPEND DELEGATE_DEFINITIONS MSLITE_COREML)
endif()
set_source_files_properties(${DELEGATE}/devices.cc PROPERTIES COMPILE_DEFINITIONS "${DELEGATE_DEFINITIONS}")
