# What the linker does so that the library is small: docs/developers/size.md. The options are tried,
# because few linkers know all.
include(CheckCSourceCompiles)

option(MSLITE_PACKED_RELOCATIONS "Relocations in packed form, where linker and C library know it; glibc before 2.36 cannot load them" ON)

# mslite_try_link(flag variable): links with the flag from now on, where the linker knows it and has nothing to say.
function(mslite_try_link flag variable)
  set(CMAKE_REQUIRED_LINK_OPTIONS ${flag})
  check_c_source_compiles("int main(void) { return 0; }" ${variable} FAIL_REGEX "warning|ignored|unknown")
  if(${variable})
    add_link_options(${flag})
  endif()
endfunction()

# Phones may have pages of 16 KiB; of larger ones, some linkers' choice for ARM, the file would hold more padding.
if(ANDROID OR CMAKE_SYSTEM_PROCESSOR MATCHES "aarch64|arm64")
  mslite_try_link(-Wl,-z,max-page-size=16384 MSLITE_LINKS_PAGES)
endif()

# One copy of functions that are the same byte for byte, as the parts of kernels are that every instruction set has. None
# is told apart by its address.
mslite_try_link(-Wl,--icf=all MSLITE_LINKS_FOLDED)

# Thousands of pointers in tables of kernels: 24 bytes each in the usual form, which say how to make them.
if(MSLITE_PACKED_RELOCATIONS)
  if(ANDROID AND ANDROID_PLATFORM_LEVEL GREATER_EQUAL 30)
    mslite_try_link(-Wl,--pack-dyn-relocs=android+relr MSLITE_LINKS_ANDROID_RELR)
  elseif(ANDROID)
    mslite_try_link(-Wl,--pack-dyn-relocs=android MSLITE_LINKS_ANDROID_PACKED)
  else()
    check_c_source_compiles("#include <features.h>
#if !defined(__GLIBC__) || !__GLIBC_PREREQ(2, 36)
#error
#endif
int main(void) { return 0; }" MSLITE_C_LIBRARY_KNOWS_RELR)
    if(MSLITE_C_LIBRARY_KNOWS_RELR)
      mslite_try_link(-Wl,-z,pack-relative-relocs MSLITE_LINKS_RELR)
    endif()
  endif()
endif()
