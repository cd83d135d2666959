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
 * A model that is built for a context and runs. Calls from several threads take turns; for requests at the same time
 * there is {@link ModelParallelRunner}. Methods that return a boolean return false when they fail, and {@link
 * #getLastError()} says why; those whose names end in {@code OrThrow} throw a {@link MindSporeException} instead.
 */
public class Model extends ModelNative {
  private static final int INPUTS = 0;
  private static final int OUTPUTS = 1;

  public Model() {
    super(nativeCreate(), true);
  }

  /** Another object for the model of that number. */
  public Model(long modelPtr) {
    super(modelPtr, false);
  }

  /**
   * Builds from a loaded graph: with a {@code cfg}, which is copied, for training, beginning in evaluation mode.
   *
   * @param cfg null for inference
   */
  public boolean build(Graph graph, MSContext context, TrainCfg cfg) {
    return attempt(() -> buildOrThrow(graph, context, cfg));
  }

  /** Builds from the bytes of a {@code .ms} file, which are copied. */
  public boolean build(final MappedByteBuffer buffer, int modelType, MSContext context) {
    return attempt(() -> buildOrThrow(buffer, modelType, context));
  }

  /**
   * Builds from the bytes of an encrypted {@code .ms} file.
   *
   * @param decKey the key, one byte per character; copies of it are wiped, the array is the caller's
   * @param decMode the cipher, {@code AES-GCM} for example
   * @param croptoLibPath the library that decrypts
   */
  public boolean build(final MappedByteBuffer buffer, int modelType, MSContext context, char[] decKey, String decMode,
      String croptoLibPath) {
    return attempt(() -> buildOrThrow(buffer, modelType, context, decKey, decMode, croptoLibPath));
  }

  /** Builds from a {@code .ms} file, which must not change while the model lives. */
  public boolean build(String modelPath, int modelType, MSContext context) {
    return attempt(() -> buildOrThrow(modelPath, modelType, context));
  }

  /** Builds from an encrypted {@code .ms} file; parameters as with the bytes of one. */
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

  /** Takes every buffer, from its position to its limit. */
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

  /** Runs the model on what the tensors of {@link #getInputs()} hold, into those of {@link #getOutputs()}. */
  public boolean predict() {
    return attempt(this::predictOrThrow);
  }

  public void predictOrThrow() {
    nativePredict(handle());
  }

  /** As {@link #predict()}: in train mode one step, which changes the weights. */
  public boolean runStep() {
    return predict();
  }

  /**
   * Runs the model on the tensors of {@link #getInputs()}, on another thread. Requests run in the order in which they
   * came. Until all have ended, inputs may be read but not changed, outputs not read, and the model not be resized or
   * run by {@link #predict()}: each throws a {@link HandleMisuseException}.
   *
   * <p>Canceling the future ends this request and no other: one that waits is never begun and has ended when {@code
   * cancel} returns, one that runs ends before its next operator.
   *
   * @return tensors with a copy of the results, to be freed by the caller; or the {@link MindSporeException} that says
   *     what went wrong
   */
  public CompletableFuture<List<MSTensor>> predictAsync() {
    return predictAsync((long[]) null);
  }

  /** As {@link #predictAsync()} on tensors of the caller, in the order of {@link #getInputs()}. */
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
   * Plans for new shapes of some inputs of {@link #getInputs()}. When that fails the old shapes stay. It fails for other
   * sizes than the model was converted for.
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

  /** The model's inputs; empty when it is not built. */
  public List<MSTensor> getInputs() {
    return tensors(() -> nativeTensors(handle(), INPUTS));
  }

  /** The model's outputs, whose contents stay until the next run; empty when it is not built. */
  public List<MSTensor> getOutputs() {
    return tensors(() -> nativeTensors(handle(), OUTPUTS));
  }

  /** Null when there is no input of that name. */
  public MSTensor getInputByTensorName(String tensorName) {
    return byName(INPUTS, tensorName);
  }

  /** Null when there is no output of that name. */
  public MSTensor getOutputByTensorName(String tensorName) {
    return byName(OUTPUTS, tensorName);
  }

  private MSTensor byName(int which, String tensorName) {
    return attempt(
        () -> MSTensor.of(this, nativeTensorByName(handle(), which, utf8(tensorName, "the name"))), null);
  }

  /** The outputs that a node writes. */
  public List<MSTensor> getOutputsByNodeName(String nodeName) {
    return tensors(() -> nativeOutputsOfNode(handle(), utf8(nodeName, "the name")));
  }

  public List<String> getOutputTensorNames() {
    List<String> names = new ArrayList<>();
    getOutputs().forEach(output -> names.add(output.tensorName()));
    return names;
  }

  /** Reads {@code [section] key=value} settings. Comes before the build. */
  public boolean loadConfig(String configPath) {
    return attempt(() -> nativeLoadConfig(handle(), utf8(configPath, "the path")));
  }

  /** Settings of a section. Comes before the build. */
  public boolean updateConfig(String section, HashMap<String, String> config) {
    return attempt(
        () -> {
          byte[] name = utf8(section, "the section");
          given(config, "the configuration")
              .forEach((key, value) -> nativeUpdateConfig(handle(), name, utf8(key, "a key"), utf8(value, key)));
        });
  }

  /**
   * Lets products of the model add what a low-rank adapter of {@link #exportAdapter} has learned, in place of the one
   * before, which stays where this one is refused.
   */
  public boolean loadAdapter(String adapterPath) {
    return attempt(() -> nativeLoadAdapter(handle(), utf8(adapterPath, "the path")));
  }

  /** Lets the model compute what it did without an adapter. */
  public boolean unloadAdapter() {
    return attempt(() -> nativeUnloadAdapter(handle()));
  }

  // Training, of models that were built with a TrainCfg.

  /** Writes what low-rank adapters have learned, and nothing of their base, for {@link #loadAdapter}. */
  public boolean exportAdapter(String fileName) {
    return attempt(() -> nativeExportAdapter(handle(), utf8(fileName, "the file")));
  }

  /**
   * Writes the model as it is, as a {@code .ms} file, whole or not at all; the suffix may be left out.
   *
   * @param quantizationType 0 for none, 1 for 8-bit weights
   * @param isOnlyExportInfer whether to write the part for inference; otherwise the training graph, which goes on where
   *     it was
   * @param outputTensorNames tensors or nodes that become the outputs of inference; null or empty: its own
   */
  public boolean export(String fileName, int quantizationType, boolean isOnlyExportInfer,
      List<String> outputTensorNames) {
    return attempt(
        () -> nativeExport(
            handle(), utf8(fileName, "the file"), quantizationType, isOnlyExportInfer, utf8(outputTensorNames)));
  }

  /** Not supported: export the model, and let {@code mslite-codegen} write it as C. */
  public boolean exportWeightsCollaborateWithMicro(String weightFile, boolean isInference, boolean enableFp16,
      List<String> changeableWeightNames) {
    return attempt(
        () -> nativeExportWeights(
            handle(), utf8(weightFile, "the file"), isInference, enableFp16, utf8(changeableWeightNames)));
  }

  private static byte[][] utf8(List<String> names) {
    return names == null ? null : names.stream().map(name -> utf8(name, "a name")).toArray(byte[][]::new);
  }

  /** Copies of the weights that inference reads, to be freed by the caller. */
  public List<MSTensor> getFeatureMaps() {
    return tensors(() -> nativeFeatureMaps(handle()));
  }

  /** Gives weights other contents, found by the names of the tensors. */
  public boolean updateFeatureMaps(List<MSTensor> features) {
    return attempt(() -> nativeUpdateFeatureMaps(handle(), handles(features)));
  }

  /**
   * Between training, where a run is a step and the outputs are the losses, and evaluation, where a run infers with the
   * weights as they are. A tensor of {@link #getOutputs()} shows the output of the same place afterwards, and has no
   * contents until the next run; buffers that outputs were given are no longer theirs.
   */
  public boolean setTrainMode(boolean isTrain) {
    return attempt(() -> nativeSetTrainMode(handle(), isTrain));
  }

  public boolean getTrainMode() {
    return nativeGetTrainMode(handle());
  }

  /** Of all optimizers. */
  public boolean setLearningRate(float learningRate) {
    return attempt(() -> nativeSetLearningRate(handle(), learningRate));
  }

  /** 0 when the model is not built for training. */
  public float getLearningRate() {
    return attempt(() -> nativeGetLearningRate(handle()), 0f);
  }

  /**
   * Updates the weights once for so many steps, by the sum of their gradients.
   *
   * @param virtualBatchMultiplier less than 2: an update for each step again, with the learning rate of before
   * @param learningRate negative: the present one, divided by the multiplier
   * @param momentum of batch normalization; negative: the present one, divided by the multiplier
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
