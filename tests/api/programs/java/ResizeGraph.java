import com.mindspore.Graph;
import com.mindspore.MSTensor;
import com.mindspore.Model;
import com.mindspore.config.DeviceType;
import com.mindspore.config.MSContext;
import java.util.List;

/** {@code ResizeGraph MODEL.ms}: a loaded graph, built, resized to a batch of three, and filled with numbers. */
public final class ResizeGraph {
  public static void main(String[] arguments) {
    Graph graph = new Graph();
    if (graph.load("there_is_none.ms") || !graph.load(arguments[0])) {
      fail("load");
    }
    MSContext context = new MSContext();
    context.init();
    context.setThreadNum(1);
    if (context.getThreadNum() != 1 || !context.addDeviceInfo(DeviceType.DT_CPU, false)) {
      fail("context");
    }
    Model model = new Model();
    if (!model.build(graph, context, null)) {
      fail("build");
    }
    graph.free();
    List<MSTensor> inputs = model.getInputs();
    int[][] shapes = new int[inputs.size()][];
    for (int i = 0; i < shapes.length; ++i) {
      shapes[i] = inputs.get(i).getShape();
      shapes[i][0] = 3;
    }
    if (model.resize(inputs, new int[0][]) || !model.resize(inputs, shapes)) {
      fail("resize");
    }
    for (MSTensor input : model.getInputs()) {
      float[] values = new float[input.elementsNum()];
      for (int i = 0; i < values.length; ++i) {
        values[i] = i % 5 / 4.0f;
      }
      MSTensor named = model.getInputByTensorName(input.tensorName());
      if (named == null || !named.setData(values)) {
        fail("input");
      }
    }
    if (model.getInputByTensorName("there is none") != null || !model.predict()) {
      fail("predict");
    }
    for (MSTensor output : model.getOutputs()) {
      if (output.getShape()[0] != 3) {
        fail("output");
      }
      System.out.print(output.tensorName());
      for (float value : output.getFloatData()) {
        System.out.print(" " + value);
      }
      System.out.println();
    }
    model.free();
    context.free();
  }

  private static void fail(String what) {
    System.err.println(what + " failed");
    System.exit(1);
  }
}
