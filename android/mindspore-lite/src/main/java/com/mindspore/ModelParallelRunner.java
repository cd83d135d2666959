package com.mindspore;

import com.mindspore.config.RunnerConfig;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;

/** Runs many requests at the same time over one set of packed weights. {@link #predict} may be called by any thread. */
public class ModelParallelRunner extends NativeHandle {
  private static final int INPUTS = 0;
  private static final int OUTPUTS = 1;

  public ModelParallelRunner() {
    super(nativeCreate(), true);
  }

  /** The number of the native runner. */
  public long getModelParallelRunnerPtr() {
    return handleOrNone();
  }

  /** Builds the workers with settings chosen for the machine. */
  public boolean init(String modelPath) {
    return attempt(() -> initOrThrow(modelPath, null));
  }

  public boolean init(String modelPath, RunnerConfig runnerConfig) {
    return attempt(() -> initOrThrow(modelPath, runnerConfig));
  }

  /** As {@link #init(String, RunnerConfig)}, but throws a {@link MindSporeException}; the configuration may be null. */
  public void initOrThrow(String modelPath, RunnerConfig runnerConfig) {
    long config = runnerConfig == null ? 0 : runnerConfig.getRunnerConfigPtr();
    nativeInit(handle(), utf8(modelPath, "the model's path"), config);
  }

  /**
   * Runs one request on an idle worker, waiting for one if need be.
   *
   * @param inputs in the order of {@link #getInputs()}; unchanged until the call returns
   * @param outputs is emptied and filled with new tensors, to be freed by the caller
   * @return false when that fails; {@link #getLastError()} says why
   */
  public boolean predict(List<MSTensor> inputs, List<MSTensor> outputs) {
    return attempt(() -> predictOrThrow(inputs, outputs));
  }

  /** As {@link #predict}, but throws a {@link MindSporeException}. */
  public void predictOrThrow(List<MSTensor> inputs, List<MSTensor> outputs) {
    given(outputs, "the list of outputs").clear();
    for (long output : nativePredict(handle(), Model.handles(inputs))) {
      outputs.add(MSTensor.owned(output));
    }
  }

  /** New tensors with name, type and shape of the inputs, to be filled and freed by the caller. */
  public List<MSTensor> getInputs() {
    return tensors(() -> nativeTensors(handle(), INPUTS));
  }

  /** New tensors with name, type and shape of the outputs, without contents. */
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
