import com.mindspore.MSTensor;
import com.mindspore.ModelParallelRunner;
import com.mindspore.config.DeviceType;
import com.mindspore.config.MSContext;
import com.mindspore.config.RunnerConfig;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/** {@code ParallelRunner MODEL.ms}: four threads of the caller over two workers. */
public final class ParallelRunner {
  private static final int THREADS = 4;

  public static void main(String[] arguments) throws InterruptedException {
    MSContext context = new MSContext();
    context.init(1, 0);
    context.addDeviceInfo(DeviceType.DT_CPU, false);
    RunnerConfig config = new RunnerConfig();
    if (!config.init(context)) {
      fail("config");
    }
    config.setWorkersNum(2);
    ModelParallelRunner runner = new ModelParallelRunner();
    if (!runner.init(arguments[0], config)) {
      fail("init");
    }
    MSTensor like = runner.getInputs().get(0);
    float[] firsts = new float[THREADS];
    List<Thread> threads = new ArrayList<>();
    for (int thread = 0; thread < THREADS; ++thread) {
      int number = thread;
      threads.add(new Thread(() -> firsts[number] = firstOutput(runner, like, number * 0.25f)));
    }
    for (Thread thread : threads) {
      thread.start();
    }
    for (Thread thread : threads) {
      thread.join();
    }
    System.out.print(runner.getOutputs().get(0).tensorName());
    for (float first : firsts) {
      System.out.print(" " + first);
    }
    System.out.println();
    runner.free();
    config.free();
    context.free();
  }

  /** The first number of the output for inputs that are all {@code value}, after five runs of the same. */
  private static float firstOutput(ModelParallelRunner runner, MSTensor like, float value) {
    ByteBuffer numbers = ByteBuffer.allocateDirect((int) like.size()).order(ByteOrder.nativeOrder());
    while (numbers.hasRemaining()) {
      numbers.putFloat(value);
    }
    numbers.rewind();
    MSTensor input = MSTensor.createTensor(like.tensorName(), like.getDataType(), like.getShape(), numbers);
    float first = Float.NaN;
    for (int i = 0; i < 5; ++i) {
      List<MSTensor> outputs = new ArrayList<>();
      if (!runner.predict(Collections.singletonList(input), outputs)) {
        return Float.NaN;
      }
      first = outputs.get(0).getFloatData()[0];
      for (MSTensor output : outputs) {
        output.free();
      }
    }
    input.free();
    return first;
  }

  private static void fail(String what) {
    System.err.println(what + " failed");
    System.exit(1);
  }
}
