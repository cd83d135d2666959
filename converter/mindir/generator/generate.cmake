# Everything that is generated from the operator declarations: ${MSLITE_GENERATED}.
set(MSLITE_GENERATED ${CMAKE_BINARY_DIR}/generated)
find_program(FLATC flatc REQUIRED)
file(GLOB MSLITE_DECLARATIONS CONFIGURE_DEPENDS
     ${PROJECT_SOURCE_DIR}/converter/mindir/ops/*.py ${PROJECT_SOURCE_DIR}/converter/mindir/ops/*/*.py
     ${PROJECT_SOURCE_DIR}/converter/mindir/generator/*.py)
set(MSLITE_GENERATED_FILES
    ${MSLITE_GENERATED}/ops.fbs ${MSLITE_GENERATED}/op_params.h ${MSLITE_GENERATED}/op_names.inc
    ${MSLITE_GENERATED}/op_operands.inc ${MSLITE_GENERATED}/op_layouts.inc)
add_custom_command(
  OUTPUT ${MSLITE_GENERATED_FILES} ${MSLITE_GENERATED}/schema/ops_generated.h ${MSLITE_GENERATED}/schema/ops_objects.h
  COMMAND ${Python3_EXECUTABLE} -S -m converter.mindir.generator ${MSLITE_GENERATED}
  COMMAND ${FLATC} --cpp -o ${MSLITE_GENERATED}/schema ${MSLITE_GENERATED}/ops.fbs 2> ${MSLITE_GENERATED}/flatc.log
  COMMAND ${FLATC} --cpp --gen-object-api --filename-suffix _objects -o ${MSLITE_GENERATED}/schema
          ${MSLITE_GENERATED}/ops.fbs 2> ${MSLITE_GENERATED}/flatc.log
  COMMAND ${CMAKE_COMMAND} -E touch ${MSLITE_GENERATED_FILES}
  WORKING_DIRECTORY ${PROJECT_SOURCE_DIR}
  DEPENDS ${MSLITE_DECLARATIONS}
  COMMENT "Generating from the operator declarations")
add_custom_target(mslite_generate DEPENDS ${MSLITE_GENERATED_FILES} ${MSLITE_GENERATED}/schema/ops_generated.h)
