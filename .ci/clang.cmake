# Selects the newest installed clang, or the version of -DMSLITE_CLANG=14, for the other toolchain files in this folder.
set(CMAKE_TRY_COMPILE_PLATFORM_VARIABLES MSLITE_CLANG)
foreach(version ${MSLITE_CLANG} 22 21 20 19)
  find_program(CLANG_${version} clang-${version})
  if(CLANG_${version})
    set(CMAKE_C_COMPILER clang-${version})
    set(CMAKE_CXX_COMPILER clang++-${version})
    return()
  endif()
endforeach()
message(FATAL_ERROR "clang ${MSLITE_CLANG} 22, 21, 20 or 19 is not installed. Kernels by older versions are slower. "
                    "Install one (apt-get install clang-19), or select another version with -DMSLITE_CLANG=VERSION.")
