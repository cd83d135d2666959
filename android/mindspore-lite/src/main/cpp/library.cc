// Native methods of Graph, Version and NativeHandle.
#include "handles.h"
#include "include/api/serialization.h"
#include "names.h"

using mslite::java::Guarded;

extern "C" JNIEXPORT void JNICALL Java_com_mindspore_NativeHandle_release(JNIEnv *env, jclass, jlong handle) {
  Guarded(env, [&] { mslite::java::ReleaseHandle(handle); });
}

JAVA_CONFIG_METHOD(jbyteArray, Version, Version)(JNIEnv *env, jclass) {
  return Guarded(env, [&] { return mslite::java::ToBytes(env, mindspore::Version()); });
}

JAVA_METHOD(jlong, Graph, Load)(JNIEnv *env, jobject, jbyteArray file) {
  return Guarded(env, [&]() -> jlong {
    auto object = std::make_shared<mslite::java::GraphObject>();
    mslite::java::Check(
        mindspore::Serialization::Load(mslite::java::ToString(env, file), mindspore::kMindIR_Lite, &object->graph));
    return mslite::java::Add(std::move(object));
  });
}
