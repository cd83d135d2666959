// Native methods of ModelParallelRunner and RunnerConfig.
#include <optional>

#include "handles.h"
#include "names.h"

namespace {
using mindspore::MSTensor;
using mslite::java::Check;
using mslite::java::Guarded;
using mslite::java::Held;
using mslite::java::RunnerConfigObject;
using mslite::java::RunnerObject;
using mslite::java::TensorObject;
using mslite::java::ToString;
using mslite::java::Use;
}  // namespace

JAVA_CONFIG_METHOD(jlong, RunnerConfig, Create)(JNIEnv *env, jclass, jlong context) {
  return Guarded(env, [&]() -> jlong {
    auto object = std::make_shared<RunnerConfigObject>();
    if (context != 0) {
      object->context = mslite::java::Find<mslite::java::ContextObject>(context);
      object->config->SetContext(object->context->context);
    }
    return mslite::java::Add(std::move(object));
  });
}

JAVA_CONFIG_METHOD(void, RunnerConfig, SetWorkersNum)(JNIEnv *env, jobject, jlong handle, jint workers) {
  Guarded(env, [&] { Held<RunnerConfigObject>(handle)->config->SetWorkersNum(workers); });
}

JAVA_CONFIG_METHOD(jint, RunnerConfig, GetWorkersNum)(JNIEnv *env, jobject, jlong handle) {
  return Guarded(env, [&]() -> jint { return Held<RunnerConfigObject>(handle)->config->GetWorkersNum(); });
}

JAVA_CONFIG_METHOD(void, RunnerConfig, SetConfigInfo)
(JNIEnv *env, jobject, jlong handle, jbyteArray section, jobjectArray settings) {
  Guarded(env, [&] {
    std::vector<std::string> texts;
    for (jsize i = 0; i < env->GetArrayLength(settings); ++i) {
      const auto text = static_cast<jbyteArray>(env->GetObjectArrayElement(settings, i));
      texts.push_back(ToString(env, text));
      env->DeleteLocalRef(text);
    }
    std::map<std::string, std::string> config;
    for (size_t i = 0; i + 1 < texts.size(); i += 2) config[texts[i]] = texts[i + 1];
    Held<RunnerConfigObject>(handle)->config->SetConfigInfo(ToString(env, section), config);
  });
}

JAVA_CONFIG_METHOD(void, RunnerConfig, SetConfigPath)(JNIEnv *env, jobject, jlong handle, jbyteArray path) {
  Guarded(env, [&] { Held<RunnerConfigObject>(handle)->config->SetConfigPath(ToString(env, path)); });
}

JAVA_CONFIG_METHOD(jbyteArray, RunnerConfig, GetConfigPath)(JNIEnv *env, jobject, jlong handle) {
  return Guarded(env,
                 [&] { return mslite::java::ToBytes(env, Held<RunnerConfigObject>(handle)->config->GetConfigPath()); });
}

JAVA_CONFIG_METHOD(void, RunnerConfig, SetDeviceIds)(JNIEnv *env, jobject, jlong handle, jintArray ids) {
  Guarded(env, [&] {
    const std::vector<int32_t> numbers = mslite::java::ToInts(env, ids);
    Held<RunnerConfigObject>(handle)->config->SetDeviceIds({numbers.begin(), numbers.end()});
  });
}

JAVA_CONFIG_METHOD(jintArray, RunnerConfig, GetDeviceIds)(JNIEnv *env, jobject, jlong handle) {
  return Guarded(env, [&] {
    const std::vector<uint32_t> ids = Held<RunnerConfigObject>(handle)->config->GetDeviceIds();
    return mslite::java::ToArray(env, std::vector<int32_t>(ids.begin(), ids.end()));
  });
}

JAVA_METHOD(jlong, ModelParallelRunner, Create)(JNIEnv *env, jclass) {
  return Guarded(env, [] { return static_cast<jlong>(mslite::java::Add(std::make_shared<RunnerObject>())); });
}

JAVA_METHOD(void, ModelParallelRunner, Init)(JNIEnv *env, jobject, jlong handle, jbyteArray path, jlong config) {
  Guarded(env, [&] {
    const Held<RunnerObject> object(handle);
    object->RefuseDuringRuns();
    std::optional<Held<RunnerConfigObject>> settings;
    std::unique_lock<std::mutex> context_turn;
    if (config != 0) {
      settings.emplace(config);
      const auto &context = (*settings)->context;
      if (context != nullptr) context_turn = std::unique_lock<std::mutex>(context->turn->mutex);
    }
    Check(object->runner.Init(ToString(env, path), settings ? (*settings)->config : nullptr));
  });
}

JAVA_METHOD(jlongArray, ModelParallelRunner, Predict)(JNIEnv *env, jobject, jlong handle, jlongArray inputs) {
  return Guarded(env, [&] {
    const std::shared_ptr<RunnerObject> object = mslite::java::Find<RunnerObject>(handle);
    const mslite::java::UsedTensors used(mslite::java::ToLongs(env, inputs));
    std::optional<Use> use;
    {
      const std::lock_guard<std::mutex> turn(object->turn->mutex);
      use.emplace(object);
    }
    std::vector<MSTensor> outputs;
    Check(object->runner.Predict(used.tensors, &outputs));
    std::vector<int64_t> handles;
    for (const MSTensor &output : outputs) {
      auto tensor = std::make_shared<TensorObject>(output);
      tensor->bytes = output.DataSize();
      handles.push_back(mslite::java::Add(std::move(tensor)));
    }
    return mslite::java::ToArray(env, handles);
  });
}

JAVA_METHOD(jlongArray, ModelParallelRunner, Tensors)(JNIEnv *env, jobject, jlong handle, jint which) {
  return Guarded(env, [&] {
    const Held<RunnerObject> object(handle);
    const std::vector<MSTensor> tensors = which == 0 ? object->runner.GetInputs() : object->runner.GetOutputs();
    if (tensors.empty()) {
      throw mslite::java::Failure{static_cast<int32_t>(mindspore::kLiteUninitializedObj),
                                  "the runner is not initialized"};
    }
    std::vector<int64_t> handles;
    handles.reserve(tensors.size());
    for (const MSTensor &tensor : tensors) handles.push_back(mslite::java::Add(std::make_shared<TensorObject>(tensor)));
    return mslite::java::ToArray(env, handles);
  });
}
