// Native methods of Model.
#include "include/api/model.h"

#include "handles.h"
#include "names.h"

namespace {
using mindspore::MSTensor;
using mslite::java::Check;
using mslite::java::ContextObject;
using mslite::java::Failure;
using mslite::java::Guarded;
using mslite::java::Held;
using mslite::java::ModelObject;
using mslite::java::TensorObject;
using mslite::java::ToString;

constexpr jint kInputs = 0;

mindspore::ModelType TypeOf(jint type) { return static_cast<mindspore::ModelType>(type); }

// A key for decryption. The destructor overwrites it.
class WipedKey {
 public:
  WipedKey(JNIEnv *env, jbyteArray bytes) {
    const auto size = static_cast<size_t>(env->GetArrayLength(bytes));
    if (size == 0 || size > key_.max_key_len) {
      throw Failure{static_cast<int32_t>(mindspore::kLiteParamInvalid),
                    "a key must have 16, 24 or 32 bytes, not " + std::to_string(size)};
    }
    env->GetByteArrayRegion(bytes, 0, static_cast<jsize>(size), reinterpret_cast<jbyte *>(key_.key));
    key_.len = size;
  }
  ~WipedKey() {
    volatile unsigned char *bytes = key_.key;
    for (size_t i = 0; i < sizeof(key_.key); ++i) bytes[i] = 0;
  }
  WipedKey(const WipedKey &) = delete;
  WipedKey &operator=(const WipedKey &) = delete;
  const mindspore::Key &get() const { return key_; }

 private:
  mindspore::Key key_;
};

// Adds handles for the inputs and outputs of the built model.
void AddTensors(const std::shared_ptr<ModelObject> &model) {
  for (const MSTensor &input : model->model.GetInputs()) {
    model->tensors.push_back(std::make_shared<TensorObject>(input, model, false));
    model->input_handles.push_back(AddHandle(mslite::java::Kind::kModelTensor, model->tensors.back()));
  }
  FollowOutputs(model);
  model->is_built = true;
}

// Builds the model with a function of model and context.
template <typename Function>
void Build(jlong handle, jlong context_handle, Function build) {
  const Held<ModelObject> model(handle);
  const Held<ContextObject> context(context_handle);
  Check(build(&model->model, context->context));
  AddTensors(model.object());
}

const ModelObject &Built(const ModelObject &model) {
  if (!model.is_built) throw Failure{static_cast<int32_t>(mindspore::kLiteUninitializedObj), "the model is not built"};
  return model;
}

// Returns the handles of outputs of the model.
std::vector<int64_t> HandlesOf(const ModelObject &model, const std::vector<MSTensor> &outputs) {
  std::vector<int64_t> handles;
  const size_t inputs = model.input_handles.size();
  for (const MSTensor &output : outputs) {
    for (size_t i = 0; i < model.output_handles.size(); ++i) {
      if (model.tensors[inputs + i]->tensor == output) handles.push_back(model.output_handles[i]);
    }
  }
  return handles;
}
}  // namespace

JAVA_METHOD(jlong, ModelNative, Create)(JNIEnv *env, jclass) {
  return Guarded(env, [] { return static_cast<jlong>(mslite::java::Add(std::make_shared<ModelObject>())); });
}

JAVA_METHOD(void, ModelNative, BuildFile)
(JNIEnv *env, jobject, jlong handle, jbyteArray path, jint type, jlong context, jbyteArray key, jbyteArray mode,
 jbyteArray library) {
  Guarded(env, [&] {
    const std::string file = ToString(env, path);
    Build(handle, context, [&](mindspore::Model *model, const std::shared_ptr<mindspore::Context> &where) {
      if (key == nullptr) return model->Build(file, TypeOf(type), where);
      const WipedKey wiped(env, key);
      return model->Build(file, TypeOf(type), where, wiped.get(), ToString(env, mode), ToString(env, library));
    });
  });
}

JAVA_METHOD(void, ModelNative, BuildBuffer)
(JNIEnv *env, jobject, jlong handle, jobject buffer, jint type, jlong context, jbyteArray key, jbyteArray mode,
 jbyteArray library) {
  Guarded(env, [&] {
    const mslite::java::Memory data = mslite::java::MemoryOf(env, buffer);
    Build(handle, context, [&](mindspore::Model *model, const std::shared_ptr<mindspore::Context> &where) {
      if (key == nullptr) return model->Build(data.data, data.size, TypeOf(type), where);
      const WipedKey wiped(env, key);
      return model->Build(data.data, data.size, TypeOf(type), where, wiped.get(), ToString(env, mode),
                          ToString(env, library));
    });
  });
}

JAVA_METHOD(void, ModelNative, BuildGraph)
(JNIEnv *env, jobject, jlong handle, jlong graph_handle, jlong context, jlong config_handle) {
  Guarded(env, [&] {
    const Held<mslite::java::GraphObject> graph(graph_handle);
    std::shared_ptr<mindspore::TrainCfg> config;
    if (config_handle != 0) config = mslite::java::Find<mslite::java::TrainCfgObject>(config_handle)->config;
    Build(handle, context, [&](mindspore::Model *model, const std::shared_ptr<mindspore::Context> &where) {
      return model->Build(mindspore::GraphCell(graph->graph), where, config);
    });
    Held<ModelObject>(handle)->is_for_training = config != nullptr;
  });
}

JAVA_METHOD(void, ModelNative, Predict)(JNIEnv *env, jobject, jlong handle) {
  Guarded(env, [&] {
    const Held<ModelObject> model(handle);
    model->RefuseDuringRuns();
    model->ForgetResults();
    Check(model->model.Predict());
    model->ShowResults();
  });
}

JAVA_METHOD(void, ModelNative, Resize)
(JNIEnv *env, jobject, jlong handle, jlongArray inputs, jobjectArray shapes) {
  Guarded(env, [&] {
    const Held<ModelObject> model(handle);
    model->RefuseDuringRuns();
    std::vector<MSTensor> tensors;
    for (const int64_t input : mslite::java::ToLongs(env, inputs)) {
      tensors.push_back(mslite::java::Find<TensorObject>(input)->tensor);
    }
    std::vector<std::vector<int64_t>> sizes;
    for (jsize i = 0; i < env->GetArrayLength(shapes); ++i) {
      const auto shape = static_cast<jintArray>(env->GetObjectArrayElement(shapes, i));
      sizes.push_back(mslite::java::ToShape(env, shape));
      env->DeleteLocalRef(shape);
    }
    model->ForgetResults();
    Check(model->model.Resize(tensors, sizes));
  });
}

JAVA_METHOD(jlongArray, ModelNative, Tensors)(JNIEnv *env, jobject, jlong handle, jint which) {
  return Guarded(env, [&] {
    const Held<ModelObject> model(handle);
    const ModelObject &built = Built(*model.operator->());
    return mslite::java::ToArray(env, which == kInputs ? built.input_handles : built.output_handles);
  });
}

JAVA_METHOD(jlong, ModelNative, TensorByName)(JNIEnv *env, jobject, jlong handle, jint which, jbyteArray name) {
  return Guarded(env, [&]() -> jlong {
    const Held<ModelObject> model(handle);
    const ModelObject &built = Built(*model.operator->());
    const bool is_input = which == kInputs;
    const std::string wanted = ToString(env, name);
    const std::vector<int64_t> &handles = is_input ? built.input_handles : built.output_handles;
    const size_t first = is_input ? 0 : built.input_handles.size();
    for (size_t i = 0; i < handles.size(); ++i) {
      if (built.tensors[first + i]->tensor.Name() == wanted) return handles[i];
    }
    throw Failure{static_cast<int32_t>(mindspore::kLiteParamInvalid),
                  std::string("the model has no ") + (is_input ? "input" : "output") + " '" + wanted + "'"};
  });
}

JAVA_METHOD(jlongArray, ModelNative, OutputsOfNode)(JNIEnv *env, jobject, jlong handle, jbyteArray node) {
  return Guarded(env, [&] {
    const Held<ModelObject> model(handle);
    const ModelObject &built = Built(*model.operator->());
    const std::string name = ToString(env, node);
    const std::vector<int64_t> handles = HandlesOf(built, model->model.GetOutputsByNodeName(name));
    if (handles.empty()) {
      throw Failure{static_cast<int32_t>(mindspore::kLiteParamInvalid),
                    "no node '" + name + "' produces an output of the model"};
    }
    return mslite::java::ToArray(env, handles);
  });
}

JAVA_METHOD(void, ModelNative, LoadConfig)(JNIEnv *env, jobject, jlong handle, jbyteArray path) {
  Guarded(env, [&] { Check(Held<ModelObject>(handle)->model.LoadConfig(ToString(env, path))); });
}

JAVA_METHOD(void, ModelNative, LoadAdapter)(JNIEnv *env, jobject, jlong handle, jbyteArray path) {
  Guarded(env, [&] {
    const Held<ModelObject> model(handle);
    model->RefuseDuringRuns();
    Check(model->model.LoadAdapter(ToString(env, path)));
  });
}

JAVA_METHOD(void, ModelNative, UnloadAdapter)(JNIEnv *env, jobject, jlong handle) {
  Guarded(env, [&] {
    const Held<ModelObject> model(handle);
    model->RefuseDuringRuns();
    Check(model->model.UnloadAdapter());
  });
}

JAVA_METHOD(void, ModelNative, UpdateConfig)
(JNIEnv *env, jobject, jlong handle, jbyteArray section, jbyteArray key, jbyteArray value) {
  Guarded(env, [&] {
    const Held<ModelObject> model(handle);
    Check(model->model.UpdateConfig(ToString(env, section), {ToString(env, key), ToString(env, value)}));
  });
}
