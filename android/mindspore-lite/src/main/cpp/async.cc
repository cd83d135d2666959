// Model.predictAsync: starts a request with StartPredict, and completes a Java future when the request ends.
#include <memory>

#include "handles.h"
#include "names.h"

namespace {
using mindspore::MSTensor;
using mindspore::Status;
using mslite::java::Attached;
using mslite::java::ModelObject;
using mslite::java::RequestObject;
using mslite::java::Use;
using mslite::java::UsedTensors;

struct Request {
  std::shared_ptr<ModelObject> model;
  UsedTensors inputs;
  std::vector<MSTensor> outputs;
  std::vector<Use> uses;  // use of the model
  mslite::java::GlobalRef result;
  int64_t handle = 0;  // handle of the RequestObject
};

// Copies the results before the next request writes to the same memory.
Status TakeResults(Request *request, std::vector<int64_t> *handles) {
  try {
    *handles = mslite::java::AddCopies(request->outputs);
    return mindspore::kSuccess;
  } catch (const std::exception &) {
    return {mindspore::kLiteMemoryFailed, "no memory for the results"};
  }
}

void Complete(JNIEnv *env, jobject result, const std::vector<int64_t> &handles, const Status &status) {
  const jmethodID finish = env->GetMethodID(env->GetObjectClass(result), "finish", "([JI[B)V");
  const jlongArray outputs = mslite::java::ToArray(env, handles);
  const jbyteArray reason = mslite::java::ToBytes(env, status.GetErrDescription());
  env->CallVoidMethod(result, finish, outputs, static_cast<jint>(status.StatusCode()), reason);
}

// Called on the thread that ran the request. Callbacks of the future may start the next request.
void Finish(const std::shared_ptr<Request> &request, const Status &run) {
  std::vector<int64_t> handles;
  const Status status = run.IsOk() ? TakeResults(request.get(), &handles) : run;
  {
    const std::lock_guard<std::mutex> turn(request->model->turn->mutex);
    if (run.IsOk()) {
      request->model->ShowResults();
    } else {
      request->model->ForgetResults();
    }
  }
  request->inputs = UsedTensors();
  request->uses.clear();
  mslite::java::ReleaseHandle(request->handle);
  const Attached attached;
  JNIEnv *env = attached.env();
  if (env == nullptr) return;  // the virtual machine has ended
  env->PushLocalFrame(8);
  mslite::java::Guarded(env, [&] { Complete(env, request->result.get(), handles, status); });
  if (env->ExceptionCheck() == JNI_TRUE) {  // Java is out of memory: the future cannot be completed
    env->ExceptionDescribe();
    env->ExceptionClear();
  }
  env->PopLocalFrame(nullptr);
  request->result.Reset();
}
}  // namespace

JAVA_METHOD(jlong, ModelNative, PredictAsync)(JNIEnv *env, jobject, jlong handle, jlongArray inputs, jobject result) {
  jlong started = 0;
  mslite::java::Guarded(env, [&] {
    auto request = std::make_shared<Request>();
    request->result = mslite::java::GlobalRef(env, result);
    if (inputs != nullptr) request->inputs = UsedTensors(mslite::java::ToLongs(env, inputs));
    {
      const mslite::java::Held<ModelObject> model(handle);
      request->model = model.object();
      if (inputs == nullptr) request->inputs.tensors = model->model.GetInputs();
      request->uses.emplace_back(model.object());
      model->ForgetResults();
    }
    const auto object = std::make_shared<RequestObject>();
    started = request->handle = mslite::java::Add(object);
    object->run = mslite::StartPredict(request->model->model, request->inputs.tensors, &request->outputs,
                                       [request](const Status &status) { Finish(request, status); });
  });
  return started;
}

// A waiting request ends before this returns; a running one stops before its next operator.
JAVA_METHOD(void, ModelNative, CancelRequest)(JNIEnv *env, jclass, jlong handle) {
  mslite::java::Guarded(env, [&] { mslite::java::Find<RequestObject>(handle)->run.Cancel(); });
}
