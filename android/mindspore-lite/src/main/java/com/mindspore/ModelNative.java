package com.mindspore;

import java.nio.ByteBuffer;

/** The native methods of {@link Model}. They throw a {@link MindSporeException} on failure. */
abstract class ModelNative extends NativeHandle {
  ModelNative(long handle, boolean isOwner) {
    super(handle, isOwner);
  }

  static native long nativeCreate();

  // `key`, `mode` and `library` are null for files that are not encrypted.
  final native void nativeBuildFile(
      long model, byte[] path, int type, long context, byte[] key, byte[] mode, byte[] library);

  final native void nativeBuildBuffer(
      long model, ByteBuffer data, int type, long context, byte[] key, byte[] mode, byte[] library);

  final native void nativeBuildGraph(long model, long graph, long context, long trainCfg);

  final native void nativePredict(long model);

  // `inputs` null: those of the model. Returns the handle of the request, which is valid until the request has ended.
  final native long nativePredictAsync(long model, long[] inputs, AsyncResult result);

  static native void nativeCancelRequest(long request);

  final native void nativeResize(long model, long[] inputs, int[][] shapes);

  final native long[] nativeTensors(long model, int which);

  final native long nativeTensorByName(long model, int which, byte[] name);

  final native long[] nativeOutputsOfNode(long model, byte[] node);

  final native void nativeLoadConfig(long model, byte[] path);

  final native void nativeUpdateConfig(long model, byte[] section, byte[] key, byte[] value);

  final native void nativeLoadAdapter(long model, byte[] path);

  final native void nativeUnloadAdapter(long model);

  final native void nativeExportAdapter(long model, byte[] file);

  final native void nativeExport(long model, byte[] file, int quantization, boolean onlyInference, byte[][] outputs);

  final native void nativeExportWeights(
      long model, byte[] file, boolean isInference, boolean enableFp16, byte[][] changeable);

  final native long[] nativeFeatureMaps(long model);

  final native void nativeUpdateFeatureMaps(long model, long[] tensors);

  final native void nativeSetTrainMode(long model, boolean isTrain);

  final native boolean nativeGetTrainMode(long model);

  final native void nativeSetLearningRate(long model, float rate);

  final native float nativeGetLearningRate(long model);

  final native void nativeSetupVirtualBatch(long model, int multiplier, float rate, float momentum);
}
