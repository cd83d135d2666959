// Macros for the names of native methods.
#ifndef MSLITE_ANDROID_NAMES_H
#define MSLITE_ANDROID_NAMES_H

// JAVA_METHOD: a native method of a class in com.mindspore. JAVA_CONFIG_METHOD: of a class in com.mindspore.config.
#define JAVA_METHOD(type, class_name, method) \
  extern "C" JNIEXPORT type JNICALL Java_com_mindspore_##class_name##_native##method
#define JAVA_CONFIG_METHOD(type, class_name, method) \
  extern "C" JNIEXPORT type JNICALL Java_com_mindspore_config_##class_name##_native##method

#endif
