// Native methods of MSTensor.
#include <cstring>

#include "handles.h"
#include "names.h"

namespace {
using mindspore::MSTensor;
using mslite::java::CheckPending;
using mslite::java::Failure;
using mslite::java::Guarded;
using mslite::java::HeldTensor;
using mslite::java::Memory;
using mslite::java::TensorObject;

constexpr size_t kMaximumRank = 8;

Failure Invalid(const std::string &reason) { return {static_cast<int32_t>(mindspore::kLiteParamInvalid), reason}; }

void CheckShape(const std::vector<int64_t> &shape) {
  if (shape.size() > kMaximumRank) {
    throw Invalid("a shape of " + std::to_string(shape.size()) + " dimensions exceeds the limit of " +
                  std::to_string(kMaximumRank));
  }
  for (const int64_t size : shape) {
    if (size < -1) throw Invalid("a size of " + std::to_string(size) + " in a shape is invalid");
  }
}

void CheckSize(const TensorObject &object, size_t bytes) {
  const size_t needed = object.tensor.DataSize();
  if (bytes == needed && needed != 0) return;
  const std::string hint = needed == 0 ? "; its shape is unknown: set a shape or call resize" : "";
  throw Invalid(std::to_string(bytes) + " bytes is not the size of tensor '" + object.tensor.Name() + "' of " +
                std::to_string(needed) + " bytes" + hint);
}

// Makes the tensor use the memory of a direct ByteBuffer.
void Attach(JNIEnv *env, TensorObject *object, jobject buffer, const Memory &memory) {
  mslite::java::GlobalRef reference(env, buffer);
  object->tensor.SetData(memory.data, false);
  object->buffer = std::move(reference);
  object->bytes = memory.size;
}

// Returns memory that the tensor owns, with the size of its current shape.
void *OwnMemory(TensorObject *object) {
  const size_t bytes = object->tensor.DataSize();
  if (object->buffer.get() != nullptr || object->bytes != bytes) {
    object->tensor.SetData(nullptr, false);
    object->buffer.Reset();
    object->bytes = 0;
  }
  void *memory = object->tensor.MutableData();
  if (memory == nullptr) throw std::bad_alloc();
  object->bytes = bytes;
  return memory;
}

// The JNI functions for one array type.
template <typename Element, typename Array>
struct Access {
  Array (JNIEnv::*make)(jsize);
  void (JNIEnv::*get)(Array, jsize, jsize, Element *);
  void (JNIEnv::*set)(Array, jsize, jsize, const Element *);

  jobject Read(JNIEnv *env, const void *data, size_t bytes) const {
    const size_t count = bytes / sizeof(Element);
    if (count > INT32_MAX) throw Invalid(std::to_string(count) + " elements exceed the maximum size of a Java array");
    const Array array = (env->*make)(static_cast<jsize>(count));
    CheckPending(env);
    (env->*set)(array, 0, static_cast<jsize>(count), static_cast<const Element *>(data));
    return array;
  }

  void Write(JNIEnv *env, TensorObject *object, jobject source) const {
    const auto array = static_cast<Array>(source);
    const jsize count = env->GetArrayLength(array);
    CheckSize(*object, static_cast<size_t>(count) * sizeof(Element));
    (env->*get)(array, 0, count, static_cast<Element *>(OwnMemory(object)));
  }
};

// Calls a function with the Access for a type code: S, I, J, F, else byte.
template <typename Function>
auto WithAccess(jchar kind, Function function) {
  switch (kind) {
    case 'S':
      return function(Access<jshort, jshortArray>{&JNIEnv::NewShortArray, &JNIEnv::GetShortArrayRegion,
                                                  &JNIEnv::SetShortArrayRegion});
    case 'I':
      return function(
          Access<jint, jintArray>{&JNIEnv::NewIntArray, &JNIEnv::GetIntArrayRegion, &JNIEnv::SetIntArrayRegion});
    case 'J':
      return function(
          Access<jlong, jlongArray>{&JNIEnv::NewLongArray, &JNIEnv::GetLongArrayRegion, &JNIEnv::SetLongArrayRegion});
    case 'F':
      return function(Access<jfloat, jfloatArray>{&JNIEnv::NewFloatArray, &JNIEnv::GetFloatArrayRegion,
                                                  &JNIEnv::SetFloatArrayRegion});
    default:
      return function(
          Access<jbyte, jbyteArray>{&JNIEnv::NewByteArray, &JNIEnv::GetByteArrayRegion, &JNIEnv::SetByteArrayRegion});
  }
}

// Throws if a run uses the tensor, or if it is an output, which cannot be set by a copy.
void CheckWritable(const TensorObject &object) {
  object.RefuseDuringRuns();
  if (object.is_output) {
    throw Invalid("tensor '" + object.tensor.Name() + "' is an output: only a direct ByteBuffer may be set");
  }
}

void CheckReadable(const TensorObject &object) {
  if (object.is_output) object.RefuseDuringRuns();
  if (object.bytes < object.tensor.DataSize()) throw NoContents(object);
}
}  // namespace

JAVA_METHOD(jlong, MSTensor, Create)
(JNIEnv *env, jclass, jbyteArray name, jint type, jintArray shape, jobject data) {
  return Guarded(env, [&]() -> jlong {
    const Memory memory = mslite::java::MemoryOf(env, data);
    const std::vector<int64_t> sizes = mslite::java::ToShape(env, shape);
    CheckShape(sizes);
    const std::unique_ptr<MSTensor> tensor(
        MSTensor::CreateTensor(mslite::java::ToString(env, name), static_cast<mindspore::DataType>(type), sizes,
                               memory.size == 0 ? nullptr : memory.data, memory.size));
    if (tensor == nullptr || memory.size == 0) {
      throw Invalid(std::to_string(memory.size) + " bytes is not the size of the tensor");
    }
    auto object = std::make_shared<TensorObject>(*tensor);
    object->bytes = memory.size;
    return mslite::java::Add(std::move(object));
  });
}

JAVA_METHOD(jintArray, MSTensor, Shape)(JNIEnv *env, jobject, jlong handle) {
  return Guarded(env, [&] {
    const HeldTensor tensor(handle);
    const std::vector<int64_t> &shape = tensor->tensor.Shape();
    return mslite::java::ToArray(env, std::vector<int32_t>(shape.begin(), shape.end()));
  });
}

JAVA_METHOD(jint, MSTensor, DataType)(JNIEnv *env, jobject, jlong handle) {
  return Guarded(env, [&] { return static_cast<jint>(HeldTensor(handle)->tensor.DataType()); });
}

JAVA_METHOD(jlong, MSTensor, Size)(JNIEnv *env, jobject, jlong handle) {
  return Guarded(env, [&] { return static_cast<jlong>(HeldTensor(handle)->tensor.DataSize()); });
}

JAVA_METHOD(jint, MSTensor, Elements)(JNIEnv *env, jobject, jlong handle) {
  return Guarded(env, [&] { return static_cast<jint>(HeldTensor(handle)->tensor.ElementNum()); });
}

JAVA_METHOD(jbyteArray, MSTensor, Name)(JNIEnv *env, jobject, jlong handle) {
  return Guarded(env, [&] { return mslite::java::ToBytes(env, HeldTensor(handle)->tensor.Name()); });
}

JAVA_METHOD(jboolean, MSTensor, IsOutput)(JNIEnv *env, jobject, jlong handle) {
  return Guarded(env, [&]() -> jboolean { return HeldTensor(handle)->is_output ? JNI_TRUE : JNI_FALSE; });
}

JAVA_METHOD(void, MSTensor, SetShape)(JNIEnv *env, jobject, jlong handle, jintArray shape) {
  Guarded(env, [&] {
    const HeldTensor tensor(handle);
    tensor->RefuseDuringRuns();
    const std::vector<int64_t> sizes = mslite::java::ToShape(env, shape);
    CheckShape(sizes);
    tensor->tensor.SetShape(sizes);
  });
}

JAVA_METHOD(jobject, MSTensor, Read)(JNIEnv *env, jobject, jlong handle, jchar kind) {
  return Guarded(env, [&] {
    const HeldTensor tensor(handle);
    CheckReadable(*tensor.operator->());
    const void *data = tensor->tensor.Data().get();
    const size_t bytes = data == nullptr ? 0 : tensor->tensor.DataSize();
    return WithAccess(kind, [&](const auto &access) { return access.Read(env, data, bytes); });
  });
}

JAVA_METHOD(void, MSTensor, Write)(JNIEnv *env, jobject, jlong handle, jobject array, jchar kind) {
  Guarded(env, [&] {
    const HeldTensor tensor(handle);
    CheckWritable(*tensor.operator->());
    WithAccess(kind, [&](const auto &access) { access.Write(env, tensor.operator->(), array); });
  });
}

JAVA_METHOD(void, MSTensor, Attach)(JNIEnv *env, jobject, jlong handle, jobject buffer, jboolean is_read_only) {
  Guarded(env, [&] {
    const HeldTensor tensor(handle);
    tensor->RefuseDuringRuns();
    const Memory memory = mslite::java::MemoryOf(env, buffer);
    CheckSize(*tensor.operator->(), memory.size);
    if (tensor->is_output && is_read_only == JNI_TRUE)
      throw Invalid("an output needs a writable buffer, not a read-only one");
    Attach(env, tensor.operator->(), buffer, memory);
    if (tensor->is_output) tensor->bytes = 0;
  });
}

JAVA_METHOD(jobject, MSTensor, Buffer)(JNIEnv *env, jobject, jlong handle, jobject fresh) {
  return Guarded(env, [&]() -> jobject {
    const HeldTensor tensor(handle);
    tensor->RefuseDuringRuns();
    if (tensor->is_output) CheckReadable(*tensor.operator->());
    if (tensor->buffer.get() != nullptr && tensor->bytes == tensor->tensor.DataSize()) {
      return env->NewLocalRef(tensor->buffer.get());
    }
    if (fresh == nullptr) return nullptr;
    const Memory memory = mslite::java::MemoryOf(env, fresh);
    CheckSize(*tensor.operator->(), memory.size);
    const void *data = tensor->tensor.Data().get();
    if (data != nullptr && tensor->bytes >= memory.size) std::memcpy(memory.data, data, memory.size);
    Attach(env, tensor.operator->(), fresh, memory);
    return env->NewLocalRef(fresh);
  });
}
