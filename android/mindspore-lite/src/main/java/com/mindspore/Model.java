package com.mindspore;

import com.mindspore.config.MSContext;
import com.mindspore.config.TrainCfg;
import java.nio.ByteBuffer;
import java.nio.MappedByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import java.util.function.Supplier;

/**
 * A model that is built for a context. Calls from several threads run one after the other; {@link ModelParallelRunner}
 * runs several requests at the same time. Methods with a boolean result return false on failure, and {@link
 * #getLastError()} returns the reason. Methods with names that end in {@code OrThrow} throw a {@link
 * MindSporeException} instead.
 */
public class Model extends ModelNative {
  private static final int INPUTS = 0;
  private static final int OUTPUTS = 1;

  public Model() {
    super(nativeCreate(), true);
  }

  /** Creates another object for the native model with this handle. */
  public Model(long modelPtr) {
    super(modelPtr, false);
  }

  /**
   * Builds a model from a loaded graph. With {@code cfg}, which is copied, the model is built for training and starts
   * in evaluation mode.
   *
   * @param cfg null for inference
   */
  public boolean build(Graph graph, MSContext context, TrainCfg cfg) {
    return attempt(() -> buildOrThrow(graph, context, cfg));
  }

  /** Builds a model from the bytes of a {@code .ms} file, which are copied. */
  public boolean build(final MappedByteBuffer buffer, int modelType, MSContext context) {
    return attempt(() -> buildOrThrow(buffer, modelType, context));
  }

  /**
   * Builds a model from the bytes of an encrypted {@code .ms} file.
   *
   * @param decKey the key, one byte per character; internal copies are cleared, the caller should clear the array
   * @param decMode the cipher, {@code AES-GCM}
   * @param croptoLibPath the path of OpenSSL's libcrypto
   */
  public boolean build(final MappedByteBuffer buffer, int modelType, MSContext context, char[] decKey, String decMode,
      String croptoLibPath) {
    return attempt(() -> buildOrThrow(buffer, modelType, context, decKey, decMode, croptoLibPath));
  }

  /** Builds a model from a {@code .ms} file, which must not change while the model exists. */
  public boolean build(String modelPath, int modelType, MSContext context) {
    return attempt(() -> buildOrThrow(modelPath, modelType, context));
  }

  /** Builds a model from an encrypted {@code .ms} file, with the parameters of the method for bytes. */
  public boolean build(String modelPath, int modelType, MSContext context, char[] decKey, String decMode,
      String croptoLibPath) {
    return attempt(() -> buildOrThrow(modelPath, modelType, context, decKey, decMode, croptoLibPath));
  }

  public void buildOrThrow(Graph graph, MSContext context, TrainCfg cfg) {
    long config = cfg == null ? 0 : cfg.getTrainCfgPtr();
    if (cfg != null && config == 0) {
      throw new MindSporeException(MindSporeException.UNINITIALIZED, "TrainCfg is not initialized; call init()");
    }
    nativeBuildGraph(handle(), given(graph, "the graph").getGraphPtr(), of(context), config);
  }

  /** Builds a model from any ByteBuffer, from its position to its limit. */
  public void buildOrThrow(ByteBuffer buffer, int modelType, MSContext context) {
    ByteBuffer data = Buffers.direct(given(buffer, "the buffer"));
    nativeBuildBuffer(handle(), data, modelType, of(context), null, null, null);
  }

  public void buildOrThrow(ByteBuffer buffer, int modelType, MSContext context, char[] decKey, String decMode,
      String croptoLibPath) {
    ByteBuffer data = Buffers.direct(given(buffer, "the buffer"));
    byte[] mode = utf8(decMode, "the mode of decryption");
    byte[] library = utf8(croptoLibPath, "the library that decrypts");
    long model = handle();
    withKey(decKey, key -> nativeBuildBuffer(model, data, modelType, of(context), key, mode, library));
  }

  public void buildOrThrow(String modelPath, int modelType, MSContext context) {
    nativeBuildFile(handle(), utf8(modelPath, "the model's path"), modelType, of(context), null, null, null);
  }

  public void buildOrThrow(String modelPath, int modelType, MSContext context, char[] decKey, String decMode,
      String croptoLibPath) {
    byte[] path = utf8(modelPath, "the model's path");
    byte[] mode = utf8(decMode, "the mode of decryption");
    byte[] library = utf8(croptoLibPath, "the library that decrypts");
    long model = handle();
    withKey(decKey, key -> nativeBuildFile(model, path, modelType, of(context), key, mode, library));
  }

  private static long of(MSContext context) {
    return given(context, "the context").getMSContextPtr();
  }

  // Calls with a copy of the key, which is wiped afterwards.
  private static void withKey(char[] key, Consumer<byte[]> action) {
    byte[] bytes = new byte[given(key, "the key").length];
    try {
      for (int i = 0; i < bytes.length; ++i) {
        if (key[i] > 0xff) {
          throw new MindSporeException(
              MindSporeException.PARAM_INVALID, "character " + i + " of the key does not fit into a byte");
        }
        bytes[i] = (byte) key[i];
      }
      action.accept(bytes);
    } finally {
      Arrays.fill(bytes, (byte) 0);
    }
  }

  /** Runs the model with the tensors of {@link #getInputs()}. The results are in those of {@link #getOutputs()}. */
  public boolean predict() {
    return attempt(this::predictOrThrow);
  }

  public void predictOrThrow() {
    nativePredict(handle());
  }

  /** The same as {@link #predict()}. In training mode, it is one training step, which updates the weights. */
  public boolean runStep() {
    return predict();
  }

  /**
   * Runs the model with the tensors of {@link #getInputs()} on another thread. Requests run in the order of their
   * arrival. Until all requests have ended, inputs must not be changed, outputs must not be read, and the model must
   * not be resized or run with {@link #predict()}. Otherwise a {@link HandleMisuseException} is thrown.
   *
   * <p>Canceling the future cancels only this request. A waiting request has ended when {@code cancel} returns, a
   * running one ends before its next operator.
   *
   * @return tensors with copies of the results, which the caller frees; or a {@link MindSporeException}
   */
  public CompletableFuture<List<MSTensor>> predictAsync() {
    return predictAsync((long[]) null);
  }

  /** The same as {@link #predictAsync()} with tensors of the caller, in the order of {@link #getInputs()}. */
  public CompletableFuture<List<MSTensor>> predictAsync(List<MSTensor> inputs) {
    try {
      return predictAsync(handles(inputs));
    } catch (HandleMisuseException e) {
      throw e;
    } catch (MindSporeException e) {
      CompletableFuture<List<MSTensor>> failed = new CompletableFuture<>();
      failed.completeExceptionally(e);
      return failed;
    }
  }

  private CompletableFuture<List<MSTensor>> predictAsync(long[] inputs) {
    AsyncResult result = new AsyncResult();
    try {
      result.request = nativePredictAsync(handle(), inputs, result);
    } catch (HandleMisuseException e) {
      throw e;
    } catch (MindSporeException e) {
      result.future.completeExceptionally(e);
    }
    return result.future;
  }

  /**
   * Plans the model for new shapes of some or all inputs of {@link #getInputs()}. It fails for sizes that the model was
   * not converted for. On failure, the old shapes stay.
   */
  public boolean resize(List<MSTensor> inputs, int[][] dims) {
    return attempt(() -> resizeOrThrow(inputs, dims));
  }

  public void resizeOrThrow(List<MSTensor> inputs, int[][] dims) {
    for (int[] shape : given(dims, "the array of shapes")) {
      given(shape, "a shape");
    }
    nativeResize(handle(), handles(inputs), dims);
  }

  /** Returns the inputs of the model; empty if the model is not built. */
  public List<MSTensor> getInputs() {
    return tensors(() -> nativeTensors(handle(), INPUTS));
  }

  /** Returns the outputs of the model, whose data is valid until the next run; empty if the model is not built. */
  public List<MSTensor> getOutputs() {
    return tensors(() -> nativeTensors(handle(), OUTPUTS));
  }

  /** Returns an input by its name, or null if no input has this name. */
  public MSTensor getInputByTensorName(String tensorName) {
    return byName(INPUTS, tensorName);
  }

  /** Returns an output by its name, or null if no output has this name. */
  public MSTensor getOutputByTensorName(String tensorName) {
    return byName(OUTPUTS, tensorName);
  }

  private MSTensor byName(int which, String tensorName) {
    return attempt(
        () -> MSTensor.of(this, nativeTensorByName(handle(), which, utf8(tensorName, "the name"))), null);
  }

  /** Returns the outputs of the model that a node produces. */
  public List<MSTensor> getOutputsByNodeName(String nodeName) {
    return tensors(() -> nativeOutputsOfNode(handle(), utf8(nodeName, "the name")));
  }

  public List<String> getOutputTensorNames() {
    List<String> names = new ArrayList<>();
    getOutputs().forEach(output -> names.add(output.tensorName()));
    return names;
  }

  /** Reads a configuration file with sections and {@code key=value} settings. It must be called before the build. */
  public boolean loadConfig(String configPath) {
    return attempt(() -> nativeLoadConfig(handle(), utf8(configPath, "the path")));
  }

  /** Adds settings to a section of the configuration. It must be called before the build. */
  public boolean updateConfig(String section, HashMap<String, String> config) {
    return attempt(
        () -> {
          byte[] name = utf8(section, "the section");
          given(config, "the configuration")
              .forEach((key, value) -> nativeUpdateConfig(handle(), name, utf8(key, "a key"), utf8(value, key)));
        });
  }

  /**
   * Loads a low-rank adapter (LoRA) that {@link #exportAdapter} has written. It replaces the previous adapter, which
   * stays on failure.
   */
  public boolean loadAdapter(String adapterPath) {
    return attempt(() -> nativeLoadAdapter(handle(), utf8(adapterPath, "the path")));
  }

  /** Removes the adapter. */
  public boolean unloadAdapter() {
    return attempt(() -> nativeUnloadAdapter(handle()));
  }

  // Training, of models that were built with a TrainCfg.

  /** Writes the trained low-rank adapters, without the other weights, for {@link #loadAdapter}. */
  public boolean exportAdapter(String fileName) {
    return attempt(() -> nativeExportAdapter(handle(), utf8(fileName, "the file")));
  }

  /**
   * Writes the model with its current weights as a {@code .ms} file, which is replaced atomically. The suffix is
   * optional.
   *
   * @param quantizationType 0 for none, 1 for 8-bit weights
   * @param isOnlyExportInfer true: the inference graph; false: the training graph and the optimizer state, with which
   *     training can continue
   * @param outputTensorNames names of tensors or nodes that are the outputs of the inference graph; null or empty:
   *     those of the model
   */
  public boolean export(String fileName, int quantizationType, boolean isOnlyExportInfer,
      List<String> outputTensorNames) {
    return attempt(
        () -> nativeExport(
            handle(), utf8(fileName, "the file"), quantizationType, isOnlyExportInfer, utf8(outputTensorNames)));
  }

  /**
   * Writes the current inference weights as a weight file of C that {@code mslite-codegen} has generated with {@code
   * keep_original_weight=true}. Only for {@code isInference}.
   */
  public boolean exportWeightsCollaborateWithMicro(String weightFile, boolean isInference, boolean enableFp16,
      List<String> changeableWeightNames) {
    return attempt(
        () -> nativeExportWeights(
            handle(), utf8(weightFile, "the file"), isInference, enableFp16, utf8(changeableWeightNames)));
  }

  private static byte[][] utf8(List<String> names) {
    return names == null ? null : names.stream().map(name -> utf8(name, "a name")).toArray(byte[][]::new);
  }

  /** Returns copies of the weights that are used for inference. The caller frees them. */
  public List<MSTensor> getFeatureMaps() {
    return tensors(() -> nativeFeatureMaps(handle()));
  }

  /** Replaces the values of weights, which are matched by name. */
  public boolean updateFeatureMaps(List<MSTensor> features) {
    return attempt(() -> nativeUpdateFeatureMaps(handle(), handles(features)));
  }

  /**
   * Switches between training mode and evaluation mode. In training mode, a run is a training step and the outputs are
   * the losses. In evaluation mode, a run is an inference with the current weights. After a switch, a tensor of {@link
   * #getOutputs()} refers to the output with the same index and has no data until the next run. Buffers that were set
   * for outputs are not used any more.
   */
  public boolean setTrainMode(boolean isTrain) {
    return attempt(() -> nativeSetTrainMode(handle(), isTrain));
  }

  public boolean getTrainMode() {
    return nativeGetTrainMode(handle());
  }

  /** Sets the learning rate of all optimizers. */
  public boolean setLearningRate(float learningRate) {
    return attempt(() -> nativeSetLearningRate(handle(), learningRate));
  }

  /** Returns the learning rate; 0 if the model is not built for training. */
  public float getLearningRate() {
    return attempt(() -> nativeGetLearningRate(handle()), 0f);
  }

  /**
   * Accumulates gradients: the weights are updated once in {@code virtualBatchMultiplier} steps, with the sum of the
   * gradients.
   *
   * @param virtualBatchMultiplier a value below 2 turns accumulation off and restores the previous learning rate
   * @param learningRate negative: the current one, divided by the multiplier
   * @param momentum of batch normalization; negative: the current one, divided by the multiplier
   */
  public boolean setupVirtualBatch(int virtualBatchMultiplier, float learningRate, float momentum) {
    return attempt(() -> nativeSetupVirtualBatch(handle(), virtualBatchMultiplier, learningRate, momentum));
  }

  private List<MSTensor> tensors(Supplier<long[]> source) {
    List<MSTensor> result = new ArrayList<>();
    for (long handle : attempt(source, new long[0])) {
      result.add(MSTensor.of(this, handle));
    }
    return result;
  }

  static long[] handles(List<MSTensor> tensors) {
    return given(tensors, "the list of tensors").stream().mapToLong(tensor -> given(tensor, "a tensor").handle())
        .toArray();
  }
}
