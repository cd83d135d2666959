// Core ML on Apple's systems. This file has not been compiled or run yet, because the project has no Apple system.
#import <CoreML/CoreML.h>
#import <Foundation/Foundation.h>

#include <cstring>

#include "coreml/coreml_runtime.h"
#include "model/message.h"

namespace mslite {
namespace {
Status Failed(const char *what, NSError *error) {
  const std::string reason = error == nil ? "no reason given" : error.localizedDescription.UTF8String;
  return Fail(mindspore::kLiteError, std::string(what) + ": " + reason);
}

NSArray<NSNumber *> *Numbers(const std::vector<int64_t> &numbers) {
  NSMutableArray<NSNumber *> *list = [NSMutableArray arrayWithCapacity:numbers.size()];
  for (const int64_t number : numbers) [list addObject:@(number)];
  return list;
}

// Returns the strides of a contiguous array.
std::vector<int64_t> Strides(const std::vector<int64_t> &dims) {
  std::vector<int64_t> strides(dims.size(), 1);
  for (size_t i = dims.size(); i-- > 1;) strides[i - 1] = strides[i] * dims[i];
  return strides;
}

// Copies an array that may not be contiguous.
void CopyOut(MLMultiArray *array, const std::vector<int64_t> &dims, float *target) {
  const auto *source = static_cast<const float *>(array.dataPointer);
  std::vector<int64_t> place(dims.size(), 0);
  int64_t count = 1;
  for (const int64_t dim : dims) count *= dim;
  for (int64_t i = 0; i < count; ++i) {
    int64_t at = 0;
    for (size_t k = 0; k < dims.size(); ++k) at += place[k] * array.strides[k].longLongValue;
    target[i] = source[at];
    for (size_t k = dims.size(); k-- > 0;) {
      if (++place[k] < dims[k]) break;
      place[k] = 0;
    }
  }
}

class AppleModel : public CoreMlModel {
 public:
  AppleModel(MLModel *model, std::vector<CoreMlArray> inputs, std::vector<CoreMlArray> outputs)
      : model_(model), inputs_(std::move(inputs)), outputs_(std::move(outputs)) {}

  Status Run(const std::vector<const float *> &inputs, const std::vector<float *> &outputs) override {
    @autoreleasepool {
      NSError *error = nil;
      NSMutableDictionary<NSString *, MLFeatureValue *> *features = [NSMutableDictionary dictionary];
      for (size_t i = 0; i < inputs_.size(); ++i) {
        // Core ML does not write to inputs, but has no array type for constant data.
        MLMultiArray *array = [[MLMultiArray alloc] initWithDataPointer:const_cast<float *>(inputs[i])
                                                                  shape:Numbers(inputs_[i].dims)
                                                               dataType:MLMultiArrayDataTypeFloat32
                                                                strides:Numbers(Strides(inputs_[i].dims))
                                                            deallocator:nil
                                                                  error:&error];
        if (array == nil) return Failed("MLMultiArray", error);
        features[@(inputs_[i].name.c_str())] = [MLFeatureValue featureValueWithMultiArray:array];
      }
      MLDictionaryFeatureProvider *provider = [[MLDictionaryFeatureProvider alloc] initWithDictionary:features
                                                                                                error:&error];
      if (provider == nil) return Failed("MLDictionaryFeatureProvider", error);
      id<MLFeatureProvider> result = [model_ predictionFromFeatures:provider error:&error];
      if (result == nil) return Failed("predictionFromFeatures", error);
      for (size_t i = 0; i < outputs_.size(); ++i) {
        MLMultiArray *array = [result featureValueForName:@(outputs_[i].name.c_str())].multiArrayValue;
        if (array == nil || array.dataType != MLMultiArrayDataTypeFloat32 ||
            ![array.shape isEqualToArray:Numbers(outputs_[i].dims)]) {
          return Fail(mindspore::kLiteError, "Core ML gave '" + outputs_[i].name + "' in another form");
        }
        CopyOut(array, outputs_[i].dims, outputs[i]);
      }
      return mindspore::kSuccess;
    }
  }

 private:
  MLModel *model_;
  std::vector<CoreMlArray> inputs_;
  std::vector<CoreMlArray> outputs_;
};
}  // namespace

Status FindCoreMl() {
  if (@available(iOS 13.0, macOS 10.15, *)) return mindspore::kSuccess;
  return Fail(mindspore::kLiteNotSupport, "Core ML: iOS 13 or macOS 10.15 is needed");
}

Status CompileCoreMl(const std::string &text, const std::vector<CoreMlArray> &inputs,
                     const std::vector<CoreMlArray> &outputs, std::unique_ptr<CoreMlModel> *model) {
  @autoreleasepool {
    NSError *error = nil;
    NSString *name = [NSString stringWithFormat:@"mslite_%@.mlmodel", NSUUID.UUID.UUIDString];
    NSURL *file = [NSURL fileURLWithPath:[NSTemporaryDirectory() stringByAppendingPathComponent:name]];
    NSData *data = [NSData dataWithBytes:text.data() length:text.size()];
    if (![data writeToURL:file options:NSDataWritingAtomic error:&error]) return Failed("writing the model", error);
    NSURL *compiled = [MLModel compileModelAtURL:file error:&error];
    [NSFileManager.defaultManager removeItemAtURL:file error:nil];
    if (compiled == nil) return Failed("compileModelAtURL", error);
    MLModel *loaded = [MLModel modelWithContentsOfURL:compiled
                                        configuration:[[MLModelConfiguration alloc] init]
                                                error:&error];
    [NSFileManager.defaultManager removeItemAtURL:compiled error:nil];
    if (loaded == nil) return Failed("modelWithContentsOfURL", error);
    *model = std::make_unique<AppleModel>(loaded, inputs, outputs);
    return mindspore::kSuccess;
  }
}
}  // namespace mslite
