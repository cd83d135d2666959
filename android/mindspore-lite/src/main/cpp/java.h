// Common JNI functions: exceptions, strings and arrays.
#ifndef MSLITE_ANDROID_JAVA_H
#define MSLITE_ANDROID_JAVA_H

#include <jni.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "include/api/status.h"

namespace mslite::java {
// The JNI environment of this thread. Attaches the thread to the virtual machine, if it is not attached, until this is
// destroyed. `env` is null if the virtual machine has ended.
class Attached {
 public:
  Attached();
  ~Attached();
  Attached(const Attached &) = delete;
  Attached &operator=(const Attached &) = delete;
  JNIEnv *env() const { return env_; }

 private:
  JNIEnv *env_ = nullptr;
  bool detaches_ = false;
};

// A global reference, which protects a Java object from garbage collection.
class GlobalRef {
 public:
  GlobalRef() = default;
  GlobalRef(JNIEnv *env, jobject object);
  ~GlobalRef() { Reset(); }
  GlobalRef(GlobalRef &&other) noexcept : object_(std::exchange(other.object_, nullptr)) {}
  GlobalRef &operator=(GlobalRef &&other) noexcept;
  void Reset();
  jobject get() const { return object_; }

 private:
  jobject object_ = nullptr;
};

// A C++ exception that becomes a MindSporeException in Java.
struct Failure {
  int32_t code;
  std::string message;
};
// A C++ exception that becomes a HandleMisuseException in Java.
struct Misuse {
  int32_t code;
  std::string message;
};
// A C++ exception for a pending Java exception.
struct Pending {};

void Check(const mindspore::Status &status);
// Throws Pending if a Java exception is pending.
void CheckPending(JNIEnv *env);

// Converts the C++ exception that is being handled to a Java exception.
void ThrowToJava(JNIEnv *env) noexcept;

// Calls a function and converts its C++ exceptions to Java exceptions, because no C++ exception may leave a native
// method. Returns a default value after an exception.
template <typename Function>
auto Guarded(JNIEnv *env, Function function) noexcept -> decltype(function()) {
  try {
    return function();
  } catch (...) {
    ThrowToJava(env);
    return decltype(function())();
  }
}

std::string ToString(JNIEnv *env, jbyteArray bytes);
// Converts an array of byte[]; null gives an empty list.
std::vector<std::string> ToStrings(JNIEnv *env, jobjectArray texts);
jbyteArray ToBytes(JNIEnv *env, const std::string &text);
std::vector<int64_t> ToShape(JNIEnv *env, jintArray array);
std::vector<int32_t> ToInts(JNIEnv *env, jintArray array);
std::vector<int64_t> ToLongs(JNIEnv *env, jlongArray array);
jintArray ToArray(JNIEnv *env, const std::vector<int32_t> &numbers);
jlongArray ToArray(JNIEnv *env, const std::vector<int64_t> &numbers);

// The memory of a direct ByteBuffer.
struct Memory {
  void *data;
  size_t size;
};
Memory MemoryOf(JNIEnv *env, jobject buffer);
}  // namespace mslite::java

#endif
