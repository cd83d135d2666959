// Native methods of Model for training.
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
using mslite::java::ToStrings;

// Throws with a reason if the model is not built for training. For functions of the runtime that only return an empty
// result.
void CheckTrains(const ModelObject &model, const char *what) {
  if (model.is_for_training) return;
  throw mslite::java::Failure{static_cast<int32_t>(mindspore::kLiteNotSupport),
                              std::string(what) + ": the model is not built for training; pass a TrainCfg to build()"};
}

// Calls a function that may replace the outputs of the model.
template <typename Function>
void Change(jlong handle, Function change) {
  const Held<ModelObject> model(handle);
  model->RefuseDuringRuns();
  const mindspore::Status status = change(&model->model);
  if (model->is_for_training) FollowOutputs(model.object());
  Check(status);
}
}  // namespace

JAVA_METHOD(void, ModelNative, Export)
(JNIEnv *env, jobject, jlong handle, jbyteArray file, jint quantization, jboolean only_inference,
 jobjectArray outputs) {
  Guarded(env, [&] {
    const Held<ModelObject> model(handle);
    Check(Serialization::ExportModel(model->model, mindspore::kMindIR_Lite, ToString(env, file),
                                     static_cast<mindspore::QuantizationType>(quantization), only_inference == JNI_TRUE,
                                     ToStrings(env, outputs)));
  });
}

JAVA_METHOD(void, ModelNative, ExportAdapter)(JNIEnv *env, jobject, jlong handle, jbyteArray file) {
  Guarded(env, [&] {
    const Held<ModelObject> model(handle);
    Check(Serialization::ExportAdapter(model->model, ToString(env, file)));
  });
}

JAVA_METHOD(void, ModelNative, ExportWeights)
(JNIEnv *env, jobject, jlong handle, jbyteArray file, jboolean is_inference, jboolean enable_fp16,
 jobjectArray changeable) {
  Guarded(env, [&] {
    const Held<ModelObject> model(handle);
    Check(Serialization::ExportWeightsCollaborateWithMicro(model->model, mindspore::kMindIR_Lite, ToString(env, file),
                                                           is_inference == JNI_TRUE, enable_fp16 == JNI_TRUE,
                                                           ToStrings(env, changeable)));
  });
}

JAVA_METHOD(jlongArray, ModelNative, FeatureMaps)(JNIEnv *env, jobject, jlong handle) {
  return Guarded(env, [&] {
    const Held<ModelObject> model(handle);
    CheckTrains(*model.operator->(), "getFeatureMaps");
    model->RefuseDuringRuns();
    return mslite::java::ToArray(env, mslite::java::AddCopies(model->model.GetFeatureMaps()));
  });
}

JAVA_METHOD(void, ModelNative, UpdateFeatureMaps)(JNIEnv *env, jobject, jlong handle, jlongArray tensors) {
  Guarded(env, [&] {
    const mslite::java::UsedTensors used(mslite::java::ToLongs(env, tensors));
    Change(handle, [&](mindspore::Model *model) { return model->UpdateFeatureMaps(used.tensors); });
  });
}

JAVA_METHOD(void, ModelNative, SetTrainMode)(JNIEnv *env, jobject, jlong handle, jboolean is_train) {
  Guarded(env,
          [&] { Change(handle, [&](mindspore::Model *model) { return model->SetTrainMode(is_train == JNI_TRUE); }); });
}

JAVA_METHOD(jboolean, ModelNative, GetTrainMode)(JNIEnv *env, jobject, jlong handle) {
  return Guarded(env,
                 [&]() -> jboolean { return Held<ModelObject>(handle)->model.GetTrainMode() ? JNI_TRUE : JNI_FALSE; });
}

JAVA_METHOD(void, ModelNative, SetLearningRate)(JNIEnv *env, jobject, jlong handle, jfloat rate) {
  Guarded(env, [&] { Check(Held<ModelObject>(handle)->model.SetLearningRate(rate)); });
}

JAVA_METHOD(jfloat, ModelNative, GetLearningRate)(JNIEnv *env, jobject, jlong handle) {
  return Guarded(env, [&]() -> jfloat {
    const Held<ModelObject> model(handle);
    CheckTrains(*model.operator->(), "getLearningRate");
    return model->model.GetLearningRate();
  });
}

JAVA_METHOD(void, ModelNative, SetupVirtualBatch)
(JNIEnv *env, jobject, jlong handle, jint multiplier, jfloat rate, jfloat momentum) {
  Guarded(env, [&] {
    Change(handle, [&](mindspore::Model *model) { return model->SetupVirtualBatch(multiplier, rate, momentum); });
  });
}
