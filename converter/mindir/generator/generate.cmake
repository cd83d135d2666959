# Everything that is generated from the operator declarations: ${MSLITE_GENERATED}.
set(MSLITE_GENERATED ${CMAKE_BINARY_DIR}/generated)
find_program(FLATC flatc REQUIRED)
file(GLOB MSLITE_DECLARATIONS CONFIGURE_DEPENDS
     ${PROJECT_SOURCE_DIR}/converter/mindir/ops/*.py ${PROJECT_SOURCE_DIR}/converter/mindir/ops/*/*.py
     ${PROJECT_SOURCE_DIR}/converter/mindir/generator/*.py)
set(MSLITE_GENERATED_FILES
    ${MSLITE_GENERATED}/ops.fbs ${MSLITE_GENERATED}/op_params.h ${MSLITE_GENERATED}/op_names.inc
    ${MSLITE_GENERATED}/op_operands.inc ${MSLITE_GENERATED}/op_unpack.inc)
add_custom_command(
  OUTPUT ${MSLITE_GENERATED_FILES} ${MSLITE_GENERATED}/schema/ops_generated.h
  COMMAND ${Python3_EXECUTABLE} -S -m converter.mindir.generator ${MSLITE_GENERATED}
  COMMAND ${FLATC} --cpp -o ${MSLITE_GENERATED}/schema ${MSLITE_GENERATED}/ops.fbs 2> ${MSLITE_GENERATED}/flatc.log
  COMMAND ${CMAKE_COMMAND} -E touch ${MSLITE_GENERATED_FILES}
  WORKING_DIRECTORY ${PROJECT_SOURCE_DIR}
  DEPENDS ${MSLITE_DECLARATIONS}
  COMMENT "Generating from the operator declarations")
add_custom_target(mslite_generate DEPENDS ${MSLITE_GENERATED_FILES} ${MSLITE_GENERATED}/schema/ops_generated.h)

# docs/operators.md is made where the Python side is built, and not committed. What only the finished build can tell (front
# ends, element types, instruction sets) is asked where the Python that builds has the converter's packages.
if(MSLITE_PYTHON)
  set(MSLITE_OPERATOR_REFERENCE ${PROJECT_SOURCE_DIR}/docs/operators.md)
  set(MSLITE_OPERATOR_FACTS ${MSLITE_GENERATED}/operator_facts.json)
  file(GLOB MSLITE_KERNEL_LISTS CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/kernels/*/*.inc)
  file(GLOB_RECURSE MSLITE_FRONT_ENDS CONFIGURE_DEPENDS
       ${PROJECT_SOURCE_DIR}/converter/parsers/*.py ${PROJECT_SOURCE_DIR}/converter/mindir/reference/*.py)
  execute_process(COMMAND ${Python3_EXECUTABLE} -c "import flatbuffers, google.protobuf, numpy, onnx, tflite"
                  RESULT_VARIABLE MSLITE_MISSING_PACKAGES OUTPUT_QUIET ERROR_QUIET)
  if(MSLITE_MISSING_PACKAGES EQUAL 0)
    add_custom_command(
      OUTPUT ${MSLITE_OPERATOR_FACTS}
      COMMAND ${CMAKE_COMMAND} -E env PYTHONPATH=${CMAKE_BINARY_DIR}/python
              ${Python3_EXECUTABLE} -m mslite.converter.operator_facts ${MSLITE_OPERATOR_FACTS}
      COMMAND ${CMAKE_COMMAND} -E touch ${MSLITE_OPERATOR_FACTS}
      DEPENDS _native _codegen ${MSLITE_FRONT_ENDS} ${PROJECT_SOURCE_DIR}/converter/operator_facts.py
      COMMENT "Asking the build what it knows of each operator")
  else()
    set(MSLITE_OPERATOR_FACTS)
  endif()
  add_custom_command(
    OUTPUT ${MSLITE_OPERATOR_REFERENCE}
    COMMAND ${Python3_EXECUTABLE} -S -m converter.mindir.generator.documentation
            ${MSLITE_OPERATOR_REFERENCE} ${MSLITE_OPERATOR_FACTS}
    WORKING_DIRECTORY ${PROJECT_SOURCE_DIR}
    DEPENDS ${MSLITE_DECLARATIONS} ${MSLITE_KERNEL_LISTS} ${MSLITE_OPERATOR_FACTS}
    COMMENT "Writing docs/operators.md")
  add_custom_target(mslite_operator_reference ALL DEPENDS ${MSLITE_OPERATOR_REFERENCE})
endif()
