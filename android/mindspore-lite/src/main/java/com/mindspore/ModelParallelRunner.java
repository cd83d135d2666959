package com.mindspore;

import com.mindspore.config.RunnerConfig;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;

/** Runs several requests at the same time. The workers share the packed weights. {@link #predict} is thread-safe. */
public class ModelParallelRunner extends NativeHandle {
  private static final int INPUTS = 0;
  private static final int OUTPUTS = 1;

  public ModelParallelRunner() {
    super(nativeCreate(), true);
  }

  /** Returns the handle of the native runner. */
  public long getModelParallelRunnerPtr() {
    return handleOrNone();
  }

  /** Builds the workers with default settings. */
  public boolean init(String modelPath) {
    return attempt(() -> initOrThrow(modelPath, null));
  }

  public boolean init(String modelPath, RunnerConfig runnerConfig) {
    return attempt(() -> initOrThrow(modelPath, runnerConfig));
  }

  /**
   * The same as {@link #init(String, RunnerConfig)}, but throws a {@link MindSporeException}. The configuration may be
   * null.
   */
  public void initOrThrow(String modelPath, RunnerConfig runnerConfig) {
    long config = runnerConfig == null ? 0 : runnerConfig.getRunnerConfigPtr();
    nativeInit(handle(), utf8(modelPath, "the model's path"), config);
  }

  /**
   * Runs one request on an idle worker, and waits for one if all are busy.
   *
   * @param inputs in the order of {@link #getInputs()}; they must not change until the call returns
   * @param outputs is cleared and filled with new tensors, which the caller frees
   * @return false on failure; {@link #getLastError()} returns the reason
   */
  public boolean predict(List<MSTensor> inputs, List<MSTensor> outputs) {
    return attempt(() -> predictOrThrow(inputs, outputs));
  }

  /** The same as {@link #predict}, but throws a {@link MindSporeException}. */
  public void predictOrThrow(List<MSTensor> inputs, List<MSTensor> outputs) {
    given(outputs, "the list of outputs").clear();
    for (long output : nativePredict(handle(), Model.handles(inputs))) {
      outputs.add(MSTensor.owned(output));
    }
  }

  /** Returns new tensors with the names, types and shapes of the inputs. The caller fills and frees them. */
  public List<MSTensor> getInputs() {
    return tensors(() -> nativeTensors(handle(), INPUTS));
  }

  /** Returns new tensors with the names, types and shapes of the outputs, without data. */
  public List<MSTensor> getOutputs() {
    return tensors(() -> nativeTensors(handle(), OUTPUTS));
  }

  private List<MSTensor> tensors(Supplier<long[]> source) {
    List<MSTensor> result = new ArrayList<>();
    for (long handle : attempt(source, new long[0])) {
      result.add(MSTensor.owned(handle));
    }
    return result;
  }

  private static native long nativeCreate();

  private native void nativeInit(long runner, byte[] path, long config);

  private native long[] nativePredict(long runner, long[] inputs);

  private native long[] nativeTensors(long runner, int which);
}
