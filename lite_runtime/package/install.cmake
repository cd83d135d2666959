# What `cmake --install` puts where. In a wheel (SKBUILD) the same tree lies inside the Python package.
if(NOT TARGET mindspore-lite)
  return()
endif()
if(SKBUILD)
  set(CMAKE_INSTALL_LIBDIR lib)
endif()
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

set(SHARED_LIBRARIES mindspore-lite)
set(STATIC_LIBRARIES mindspore-lite-static)
if(MSLITE_TRAINING)
  list(APPEND SHARED_LIBRARIES mindspore-lite-train)
  list(APPEND STATIC_LIBRARIES mindspore-lite-train-static)
endif()
if(SKBUILD)
  # A wheel holds no links: one file under the name that programs load, and a linker script for -lmindspore-lite.
  set_target_properties(${SHARED_LIBRARIES} PROPERTIES VERSION ${PROJECT_VERSION_MAJOR})
  install(TARGETS ${SHARED_LIBRARIES} EXPORT mslite-targets LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} NAMELINK_SKIP)
  foreach(library ${SHARED_LIBRARIES})
    file(WRITE ${CMAKE_CURRENT_BINARY_DIR}/lib${library}.so "INPUT(lib${library}.so.${PROJECT_VERSION_MAJOR})\n")
    install(FILES ${CMAKE_CURRENT_BINARY_DIR}/lib${library}.so DESTINATION ${CMAKE_INSTALL_LIBDIR})
  endforeach()
else()
  install(TARGETS ${SHARED_LIBRARIES} EXPORT mslite-targets LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
  # A wheel is for running models; who links statically, or crops, installs this way.
  install(TARGETS ${STATIC_LIBRARIES} EXPORT mslite-targets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
  install(DIRECTORY ${CROP_FACTS}/ DESTINATION ${CMAKE_INSTALL_LIBDIR}/mslite)
endif()
# Sources say "include/api/model.h" or "api/model.h".
install(DIRECTORY ${PROJECT_SOURCE_DIR}/lite_runtime/include/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
        FILES_MATCHING PATTERN "*.h")
# What kernels of others read of their nodes: the tables of model files, and FlatBuffers' headers, of the version that
# they were made with.
install(FILES ${MSLITE_GENERATED}/schema/ops_generated.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/schema)
find_path(FLATBUFFERS_INCLUDE flatbuffers/flatbuffers.h REQUIRED)
install(DIRECTORY ${FLATBUFFERS_INCLUDE}/flatbuffers DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/third_party
        FILES_MATCHING PATTERN "*.h")

set(MSLITE_CMAKE_DIR ${CMAKE_INSTALL_LIBDIR}/cmake/mslite)
install(EXPORT mslite-targets NAMESPACE mslite:: DESTINATION ${MSLITE_CMAKE_DIR})
configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/mslite-config.cmake.in
                              ${CMAKE_CURRENT_BINARY_DIR}/mslite-config.cmake INSTALL_DESTINATION ${MSLITE_CMAKE_DIR})
write_basic_package_version_file(${CMAKE_CURRENT_BINARY_DIR}/mslite-config-version.cmake
                                 COMPATIBILITY SameMajorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/mslite-config.cmake ${CMAKE_CURRENT_BINARY_DIR}/mslite-config-version.cmake
        DESTINATION ${MSLITE_CMAKE_DIR})

# The prefix is found from where the file lies, so that an installation may be moved.
file(RELATIVE_PATH MSLITE_PREFIX_FROM_PC /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
configure_file(${CMAKE_CURRENT_LIST_DIR}/mslite.pc.in ${CMAKE_CURRENT_BINARY_DIR}/mslite.pc @ONLY)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/mslite.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
if(MSLITE_TRAINING)
  configure_file(${CMAKE_CURRENT_LIST_DIR}/mslite-train.pc.in ${CMAKE_CURRENT_BINARY_DIR}/mslite-train.pc @ONLY)
  install(FILES ${CMAKE_CURRENT_BINARY_DIR}/mslite-train.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endif()

# Programs find the library beside them, wherever the tree is put.
foreach(program benchmark benchmark_train)
  if(TARGET ${program})
    set_target_properties(${program} PROPERTIES INSTALL_RPATH "$ORIGIN/../${CMAKE_INSTALL_LIBDIR}")
  endif()
endforeach()
if(SKBUILD)
  set(MODULES _native _runtime)
  if(MSLITE_CODEGEN)
    list(APPEND MODULES _codegen)
  endif()
  install(TARGETS ${MODULES} LIBRARY DESTINATION .)
  set_target_properties(${MODULES} PROPERTIES INSTALL_RPATH "$ORIGIN/lib")
  foreach(module ${MODULES})
    install(FILES ${CMAKE_BINARY_DIR}/python/mslite/${module}.pyi DESTINATION .)
  endforeach()
endif()
