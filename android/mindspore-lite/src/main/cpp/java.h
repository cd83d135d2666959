// What the files of this folder share of JNI: exceptions, text, arrays.
#ifndef MSLITE_ANDROID_JAVA_H
#define MSLITE_ANDROID_JAVA_H

#include <jni.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "include/api/status.h"

namespace mslite::java {
// The environment of this thread, which is made known to Java for as long as this lives where it was not. Null when
// there is no virtual machine any more.
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

// Keeps a Java object from the garbage collector.
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

// Thrown in C++, and on to Java as a MindSporeException.
struct Failure {
  int32_t code;
  std::string message;
};
// The same as a HandleMisuseException.
struct Misuse {
  int32_t code;
  std::string message;
};
// Java has thrown: nothing is to be added.
struct Pending {};

void Check(const mindspore::Status &status);
// Throws what Java has thrown.
void CheckPending(JNIEnv *env);

// Turns the exception that is being handled into one of Java's.
void ThrowToJava(JNIEnv *env) noexcept;

// Calls a function; what it throws becomes an exception of Java's, for nothing may leave a native method otherwise.
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
// Of an array of byte[]; null: none.
std::vector<std::string> ToStrings(JNIEnv *env, jobjectArray texts);
jbyteArray ToBytes(JNIEnv *env, const std::string &text);
std::vector<int64_t> ToShape(JNIEnv *env, jintArray array);
std::vector<int32_t> ToInts(JNIEnv *env, jintArray array);
std::vector<int64_t> ToLongs(JNIEnv *env, jlongArray array);
jintArray ToArray(JNIEnv *env, const std::vector<int32_t> &numbers);
jlongArray ToArray(JNIEnv *env, const std::vector<int64_t> &numbers);

// Memory of a direct ByteBuffer.
struct Memory {
  void *data;
  size_t size;
};
Memory MemoryOf(JNIEnv *env, jobject buffer);
}  // namespace mslite::java

#endif
