#include "java.h"

#include <exception>
#include <new>

namespace mslite::java {
namespace {
JavaVM *machine = nullptr;

// An exception class and its constructor (int code, byte[] message).
struct ExceptionClass {
  jclass type = nullptr;
  jmethodID constructor = nullptr;
};
ExceptionClass failure_class;
ExceptionClass misuse_class;

bool FindExceptionClass(JNIEnv *env, const char *name, ExceptionClass *result) {
  const jclass found = env->FindClass(name);
  if (found == nullptr) return false;
  result->type = static_cast<jclass>(env->NewGlobalRef(found));
  result->constructor = env->GetMethodID(found, "<init>", "(I[B)V");
  return result->type != nullptr && result->constructor != nullptr;
}

void Throw(JNIEnv *env, const ExceptionClass &exception, int32_t code, const std::string &message) {
  if (env->ExceptionCheck() == JNI_TRUE) return;
  const auto size = static_cast<jsize>(message.size());
  const jbyteArray text = env->NewByteArray(size);
  if (text == nullptr) return;  // Java has thrown OutOfMemoryError
  env->SetByteArrayRegion(text, 0, size, reinterpret_cast<const jbyte *>(message.data()));
  const jobject object = env->NewObject(exception.type, exception.constructor, code, text);
  if (object != nullptr) env->Throw(static_cast<jthrowable>(object));
}

template <typename Array>
size_t LengthOf(JNIEnv *env, Array array) {
  if (array == nullptr) throw Failure{static_cast<int32_t>(mindspore::kLiteNullptr), "an array is null"};
  return static_cast<size_t>(env->GetArrayLength(array));
}
}  // namespace

Attached::Attached() {
  void *env = nullptr;
  if (machine->GetEnv(&env, JNI_VERSION_1_6) == JNI_OK) {
    env_ = static_cast<JNIEnv *>(env);
    return;
  }
#ifdef __ANDROID__
  JNIEnv **place = &env_;
#else
  void **place = &env;
#endif
  detaches_ = machine->AttachCurrentThreadAsDaemon(place, nullptr) == JNI_OK;
#ifndef __ANDROID__
  if (detaches_) env_ = static_cast<JNIEnv *>(env);
#endif
}

Attached::~Attached() {
  if (detaches_) machine->DetachCurrentThread();
}

GlobalRef::GlobalRef(JNIEnv *env, jobject object) : object_(env->NewGlobalRef(object)) {
  if (object_ == nullptr) throw std::bad_alloc();
}

GlobalRef &GlobalRef::operator=(GlobalRef &&other) noexcept {
  std::swap(object_, other.object_);
  return *this;
}

void GlobalRef::Reset() {
  if (object_ == nullptr) return;
  const Attached attached;
  if (attached.env() != nullptr) attached.env()->DeleteGlobalRef(object_);
  object_ = nullptr;
}

void Check(const mindspore::Status &status) {
  if (status.IsOk()) return;
  const std::string reason = status.GetErrDescription();
  throw Failure{static_cast<int32_t>(status.StatusCode()),
                reason.empty() ? mindspore::Status::CodeAsString(status.StatusCode()) : reason};
}

void CheckPending(JNIEnv *env) {
  if (env->ExceptionCheck() == JNI_TRUE) throw Pending();
}

void ThrowToJava(JNIEnv *env) noexcept {
  try {
    try {
      throw;
    } catch (const Pending &) {
      return;
    } catch (const Misuse &misuse) {
      Throw(env, misuse_class, misuse.code, misuse.message);
    } catch (const Failure &failure) {
      Throw(env, failure_class, failure.code, failure.message);
    } catch (const std::bad_alloc &) {
      Throw(env, failure_class, static_cast<int32_t>(mindspore::kLiteMemoryFailed), "out of memory");
    } catch (const std::exception &error) {
      Throw(env, failure_class, static_cast<int32_t>(mindspore::kLiteError), error.what());
    }
  } catch (...) {  // out of memory for the message
    const jclass error = env->FindClass("java/lang/OutOfMemoryError");
    if (error != nullptr) env->ThrowNew(error, "mindspore-lite-jni");
  }
}

std::string ToString(JNIEnv *env, jbyteArray bytes) {
  std::string text(LengthOf(env, bytes), '\0');
  env->GetByteArrayRegion(bytes, 0, static_cast<jsize>(text.size()), reinterpret_cast<jbyte *>(text.data()));
  return text;
}

std::vector<std::string> ToStrings(JNIEnv *env, jobjectArray texts) {
  std::vector<std::string> result;
  const jsize count = texts == nullptr ? 0 : env->GetArrayLength(texts);
  for (jsize i = 0; i < count; ++i) {
    const auto text = static_cast<jbyteArray>(env->GetObjectArrayElement(texts, i));
    result.push_back(ToString(env, text));
    env->DeleteLocalRef(text);
  }
  return result;
}

jbyteArray ToBytes(JNIEnv *env, const std::string &text) {
  const auto size = static_cast<jsize>(text.size());
  const jbyteArray bytes = env->NewByteArray(size);
  CheckPending(env);
  env->SetByteArrayRegion(bytes, 0, size, reinterpret_cast<const jbyte *>(text.data()));
  return bytes;
}

std::vector<int32_t> ToInts(JNIEnv *env, jintArray array) {
  std::vector<int32_t> numbers(LengthOf(env, array));
  env->GetIntArrayRegion(array, 0, static_cast<jsize>(numbers.size()), numbers.data());
  return numbers;
}

std::vector<int64_t> ToShape(JNIEnv *env, jintArray array) {
  const std::vector<int32_t> sizes = ToInts(env, array);
  return {sizes.begin(), sizes.end()};
}

std::vector<int64_t> ToLongs(JNIEnv *env, jlongArray array) {
  std::vector<int64_t> numbers(LengthOf(env, array));
  env->GetLongArrayRegion(array, 0, static_cast<jsize>(numbers.size()), reinterpret_cast<jlong *>(numbers.data()));
  return numbers;
}

jintArray ToArray(JNIEnv *env, const std::vector<int32_t> &numbers) {
  const auto size = static_cast<jsize>(numbers.size());
  const jintArray array = env->NewIntArray(size);
  CheckPending(env);
  env->SetIntArrayRegion(array, 0, size, numbers.data());
  return array;
}

jlongArray ToArray(JNIEnv *env, const std::vector<int64_t> &numbers) {
  const auto size = static_cast<jsize>(numbers.size());
  const jlongArray array = env->NewLongArray(size);
  CheckPending(env);
  env->SetLongArrayRegion(array, 0, size, reinterpret_cast<const jlong *>(numbers.data()));
  return array;
}

Memory MemoryOf(JNIEnv *env, jobject buffer) {
  void *data = env->GetDirectBufferAddress(buffer);
  const jlong size = env->GetDirectBufferCapacity(buffer);
  if (size > 0 && data == nullptr) {
    throw Failure{static_cast<int32_t>(mindspore::kLiteParamInvalid), "the memory of the buffer cannot be accessed"};
  }
  return {data, size < 0 ? 0 : static_cast<size_t>(size)};
}
}  // namespace mslite::java

extern "C" JNIEXPORT jint JNICALL JNI_OnLoad(JavaVM *vm, void *) {
  using namespace mslite::java;  // NOLINT(google-build-using-namespace)
  void *env = nullptr;
  if (vm->GetEnv(&env, JNI_VERSION_1_6) != JNI_OK) return JNI_ERR;
  machine = vm;
  auto *java = static_cast<JNIEnv *>(env);
  const bool found = FindExceptionClass(java, "com/mindspore/MindSporeException", &failure_class) &&
                     FindExceptionClass(java, "com/mindspore/HandleMisuseException", &misuse_class);
  return found ? JNI_VERSION_1_6 : JNI_ERR;
}
