# Compiler and linker options that turn a memory error into a crash instead of an exploit: docs/security.md, "Compiler hardening".
include(CheckCSourceCompiles)
include(CheckLinkerFlag)
include(CheckPIESupported)

add_compile_options(-fstack-protector-strong)

# The C library's checked functions work on what the optimizer knows; sanitizers check more, and want to see the real calls.
# Where level 3 is not known, the C library warns and takes 2.
if(NOT MSLITE_SANITIZE)
  set(CMAKE_REQUIRED_FLAGS "-O2 -Werror -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=3")
  check_c_source_compiles("#include <string.h>\nint main(void) { return (int)strlen(\"\"); }" MSLITE_FORTIFY_3)
  unset(CMAKE_REQUIRED_FLAGS)
  set(FORTIFY 2)
  if(MSLITE_FORTIFY_3)
    set(FORTIFY 3)
  endif()
  add_compile_options($<$<NOT:$<CONFIG:Debug>>:-U_FORTIFY_SOURCE> $<$<NOT:$<CONFIG:Debug>>:-D_FORTIFY_SOURCE=${FORTIFY}>)
endif()

# Addresses of functions are written before the program begins, and cannot be written afterwards; no stack is code.
foreach(flag relro now noexecstack)
  check_linker_flag(C -Wl,-z,${flag} MSLITE_LINKS_${flag})
  if(MSLITE_LINKS_${flag})
    add_link_options(-Wl,-z,${flag})
  endif()
endforeach()

# Programs, too, lie where nobody can foresee.
check_pie_supported(LANGUAGES C CXX)
