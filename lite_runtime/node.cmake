# mslite_node: one operator on its own, unpacked from the file, its shapes inferred, its kernel chosen and run.
# The converter's native module and the runtime both stand on it.
add_library(mslite_node STATIC
            model/cropping.cc model/layout.cc model/names.cc model/operands.cc model/shared_object.cc
            model/unpack.cc model/verify.cc
            plan/choose_kernel.cc plan/quantized.cc plan/cpu_features.cc plan/kernel_types.cc plan/shapes.cc
            plan/single_node.cc plan/training_library.cc plan/work.cc)
add_dependencies(mslite_node mslite_generate)
target_include_directories(mslite_node PUBLIC ${CMAKE_CURRENT_SOURCE_DIR})
find_package(Threads REQUIRED)
target_link_libraries(mslite_node PUBLIC mslite_kernels Threads::Threads ${CMAKE_DL_LIBS})
# What is made of a file's nodes, which the cropper counts on its own.
set_source_files_properties(model/names.cc model/operands.cc model/unpack.cc PROPERTIES UNITY_GROUP nodes)
