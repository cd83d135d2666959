# The newest clang that is installed, or that of -DMSLITE_CLANG=14; for the toolchain files beside this one.
set(CMAKE_TRY_COMPILE_PLATFORM_VARIABLES MSLITE_CLANG)
foreach(version ${MSLITE_CLANG} 22 21 20 19)
  find_program(CLANG_${version} clang-${version})
  if(CLANG_${version})
    set(CMAKE_C_COMPILER clang-${version})
    set(CMAKE_CXX_COMPILER clang++-${version})
    return()
  endif()
endforeach()
message(FATAL_ERROR "No clang of version ${MSLITE_CLANG} 22, 21, 20 or 19 is installed; older ones make slower kernels. "
                    "Install one (apt-get install clang-19), or take another one with -DMSLITE_CLANG=VERSION.")
