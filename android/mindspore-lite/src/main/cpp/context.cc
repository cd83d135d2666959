// Native methods of MSContext and TrainCfg.
#include "include/api/context.h"

#include "handles.h"
#include "names.h"

namespace {
using mslite::java::ContextObject;
using mslite::java::Failure;
using mslite::java::Guarded;
using mslite::java::Held;
using mslite::java::ToString;
using mslite::java::TrainCfgObject;

std::shared_ptr<mindspore::DeviceInfoContext> MakeDevice(jint type, bool enable_fp16, jint frequency) {
  switch (type) {
    case 0: {
      auto device = std::make_shared<mindspore::CPUDeviceInfo>();
      device->SetEnableFP16(enable_fp16);
      return device;
    }
    case 1: {
      auto device = std::make_shared<mindspore::GPUDeviceInfo>();
      device->SetEnableFP16(enable_fp16);
      return device;
    }
    case 2: {
      auto device = std::make_shared<mindspore::KirinNPUDeviceInfo>();
      device->SetEnableFP16(enable_fp16);
      device->SetFrequency(frequency);
      return device;
    }
    case 3:
      return std::make_shared<mindspore::AscendDeviceInfo>();
    default:
      throw Failure{static_cast<int32_t>(mindspore::kLiteParamInvalid), std::to_string(type) + " is not a DeviceType"};
  }
}
}  // namespace

JAVA_CONFIG_METHOD(jlong, MSContext, Create)(JNIEnv *env, jclass, jint threads, jint bind_mode, jboolean is_parallel) {
  return Guarded(env, [&]() -> jlong {
    auto object = std::make_shared<ContextObject>();
    object->context->SetThreadNum(threads);
    object->context->SetThreadAffinity(bind_mode);
    object->context->SetEnableParallel(is_parallel == JNI_TRUE);
    return mslite::java::Add(std::move(object));
  });
}

JAVA_CONFIG_METHOD(void, MSContext, AddDevice)
(JNIEnv *env, jobject, jlong handle, jint type, jboolean enable_fp16, jint frequency) {
  Guarded(env, [&] {
    const Held<ContextObject> object(handle);
    object->context->MutableDeviceInfo().push_back(MakeDevice(type, enable_fp16 == JNI_TRUE, frequency));
  });
}

JAVA_CONFIG_METHOD(void, MSContext, AddAscend)
(JNIEnv *env, jobject, jlong handle, jint device_id, jint rank_id, jbyteArray precision, jbyteArray provider) {
  Guarded(env, [&] {
    auto device = std::make_shared<mindspore::AscendDeviceInfo>();
    device->SetDeviceID(static_cast<uint32_t>(device_id));
    device->SetRankID(static_cast<uint32_t>(rank_id));
    device->SetPrecisionMode(ToString(env, precision));
    device->SetProvider(ToString(env, provider));
    const Held<ContextObject> object(handle);
    object->context->MutableDeviceInfo().push_back(device);
  });
}

JAVA_CONFIG_METHOD(void, MSContext, SetThreadNum)(JNIEnv *env, jobject, jlong handle, jint threads) {
  Guarded(env, [&] { Held<ContextObject>(handle)->context->SetThreadNum(threads); });
}

JAVA_CONFIG_METHOD(jint, MSContext, GetThreadNum)(JNIEnv *env, jobject, jlong handle) {
  return Guarded(env, [&]() -> jint { return Held<ContextObject>(handle)->context->GetThreadNum(); });
}

JAVA_CONFIG_METHOD(void, MSContext, SetInterOpParallelNum)(JNIEnv *env, jobject, jlong handle, jint number) {
  Guarded(env, [&] { Held<ContextObject>(handle)->context->SetInterOpParallelNum(number); });
}

JAVA_CONFIG_METHOD(jint, MSContext, GetInterOpParallelNum)(JNIEnv *env, jobject, jlong handle) {
  return Guarded(env, [&]() -> jint { return Held<ContextObject>(handle)->context->GetInterOpParallelNum(); });
}

JAVA_CONFIG_METHOD(void, MSContext, SetAffinityMode)(JNIEnv *env, jobject, jlong handle, jint mode) {
  Guarded(env, [&] { Held<ContextObject>(handle)->context->SetThreadAffinity(mode); });
}

JAVA_CONFIG_METHOD(jint, MSContext, GetAffinityMode)(JNIEnv *env, jobject, jlong handle) {
  return Guarded(env, [&]() -> jint { return Held<ContextObject>(handle)->context->GetThreadAffinityMode(); });
}

JAVA_CONFIG_METHOD(void, MSContext, SetAffinityCores)(JNIEnv *env, jobject, jlong handle, jintArray cores) {
  Guarded(env, [&] { Held<ContextObject>(handle)->context->SetThreadAffinity(mslite::java::ToInts(env, cores)); });
}

JAVA_CONFIG_METHOD(jintArray, MSContext, GetAffinityCores)(JNIEnv *env, jobject, jlong handle) {
  return Guarded(env, [&] {
    return mslite::java::ToArray(env, Held<ContextObject>(handle)->context->GetThreadAffinityCoreList());
  });
}

JAVA_CONFIG_METHOD(void, MSContext, SetEnableParallel)(JNIEnv *env, jobject, jlong handle, jboolean is_parallel) {
  Guarded(env, [&] { Held<ContextObject>(handle)->context->SetEnableParallel(is_parallel == JNI_TRUE); });
}

JAVA_CONFIG_METHOD(jboolean, MSContext, GetEnableParallel)(JNIEnv *env, jobject, jlong handle) {
  return Guarded(env, [&]() -> jboolean {
    return Held<ContextObject>(handle)->context->GetEnableParallel() ? JNI_TRUE : JNI_FALSE;
  });
}

JAVA_CONFIG_METHOD(jlong, TrainCfg, Create)(JNIEnv *env, jclass, jbyteArray loss_name) {
  return Guarded(env, [&]() -> jlong {
    auto object = std::make_shared<TrainCfgObject>();
    if (loss_name != nullptr) object->config->SetLossName({ToString(env, loss_name)});
    return mslite::java::Add(std::move(object));
  });
}

JAVA_CONFIG_METHOD(void, TrainCfg, AddMixPrecision)
(JNIEnv *env, jobject, jlong handle, jboolean is_dynamic, jfloat scale, jint threshold) {
  Guarded(env, [&] {
    if (threshold < 0) {
      throw Failure{static_cast<int32_t>(mindspore::kLiteParamInvalid),
                    "the number of iterations must not be negative"};
    }
    const Held<TrainCfgObject> object(handle);
    object->config->optimization_level_ = mindspore::kAuto;
    mindspore::MixPrecisionCfg &mix = object->config->mix_precision_cfg_;
    mix.dynamic_loss_scale_ = is_dynamic == JNI_TRUE;
    mix.loss_scale_ = scale;
    mix.num_of_not_nan_iter_th_ = static_cast<unsigned>(threshold);
  });
}

JAVA_CONFIG_METHOD(void, TrainCfg, SetKeepGradients)(JNIEnv *env, jobject, jlong handle, jboolean keep_gradients) {
  Guarded(env, [&] { Held<TrainCfgObject>(handle)->config->keep_gradients_ = keep_gradients == JNI_TRUE; });
}
