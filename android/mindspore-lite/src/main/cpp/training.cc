// What Model has for training. The library says itself that it does not support it.
#include "handles.h"
#include "include/api/serialization.h"
#include "names.h"

namespace {
using mindspore::Serialization;
using mslite::java::Check;
using mslite::java::Guarded;
using mslite::java::Held;
using mslite::java::ModelObject;
using mslite::java::ToString;
}  // namespace

JAVA_METHOD(void, ModelNative, Export)
(JNIEnv *env, jobject, jlong handle, jbyteArray file, jint quantization, jboolean only_inference) {
  Guarded(env, [&] {
    const Held<ModelObject> model(handle);
    Check(Serialization::ExportModel(model->model, mindspore::kMindIR_Lite, ToString(env, file),
                                     static_cast<mindspore::QuantizationType>(quantization),
                                     only_inference == JNI_TRUE));
  });
}

JAVA_METHOD(void, ModelNative, ExportWeights)
(JNIEnv *env, jobject, jlong handle, jbyteArray file, jboolean is_inference, jboolean enable_fp16) {
  Guarded(env, [&] {
    const Held<ModelObject> model(handle);
    Check(Serialization::ExportWeightsCollaborateWithMicro(model->model, mindspore::kMindIR_Lite, ToString(env, file),
                                                           is_inference == JNI_TRUE, enable_fp16 == JNI_TRUE));
  });
}

JAVA_METHOD(jlongArray, ModelNative, FeatureMaps)(JNIEnv *env, jobject, jlong handle) {
  return Guarded(env, [&] {
    const Held<ModelObject> model(handle);
    const std::vector<int64_t> maps = mslite::java::AddCopies(model->model.GetFeatureMaps());
    // There are none, and the library gives no reason.
    if (maps.empty()) {
      throw mslite::java::Failure{static_cast<int32_t>(mindspore::kLiteNotSupport),
                                  "GetFeatureMaps: training is not supported by this library"};
    }
    return mslite::java::ToArray(env, maps);
  });
}

JAVA_METHOD(void, ModelNative, UpdateFeatureMaps)(JNIEnv *env, jobject, jlong handle, jlongArray tensors) {
  Guarded(env, [&] {
    const mslite::java::UsedTensors used(mslite::java::ToLongs(env, tensors));
    Check(Held<ModelObject>(handle)->model.UpdateFeatureMaps(used.tensors));
  });
}

JAVA_METHOD(void, ModelNative, SetTrainMode)(JNIEnv *env, jobject, jlong handle, jboolean is_train) {
  Guarded(env, [&] { Check(Held<ModelObject>(handle)->model.SetTrainMode(is_train == JNI_TRUE)); });
}

JAVA_METHOD(jboolean, ModelNative, GetTrainMode)(JNIEnv *env, jobject, jlong handle) {
  return Guarded(env,
                 [&]() -> jboolean { return Held<ModelObject>(handle)->model.GetTrainMode() ? JNI_TRUE : JNI_FALSE; });
}

JAVA_METHOD(void, ModelNative, SetLearningRate)(JNIEnv *env, jobject, jlong handle, jfloat rate) {
  Guarded(env, [&] { Check(Held<ModelObject>(handle)->model.SetLearningRate(rate)); });
}

JAVA_METHOD(void, ModelNative, SetupVirtualBatch)
(JNIEnv *env, jobject, jlong handle, jint multiplier, jfloat rate, jfloat momentum) {
  Guarded(env, [&] { Check(Held<ModelObject>(handle)->model.SetupVirtualBatch(multiplier, rate, momentum)); });
}
