import com.mindspore.MSTensor;
import com.mindspore.Model;
import com.mindspore.config.CpuBindMode;
import com.mindspore.config.DeviceType;
import com.mindspore.config.MSContext;
import com.mindspore.config.ModelType;
import java.io.IOException;
import java.nio.MappedByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Paths;
import java.nio.file.StandardOpenOption;

/**
 * {@code QuickStart MODEL.ms INPUT.bin [KEY LIBRARY]}: a mapped file, encrypted where a key is given, and the outputs as
 * text.
 */
public final class QuickStart {
  public static void main(String[] arguments) throws IOException {
    MSContext context = new MSContext();
    if (context.getThreadNum() != -1 || !context.init(2, CpuBindMode.NO_BIND)) {
      fail("context");
    }
    if (!context.addDeviceInfo(DeviceType.DT_CPU, false)) {
      fail("device");
    }
    Model model = new Model();
    try (FileChannel file = FileChannel.open(Paths.get(arguments[0]), StandardOpenOption.READ)) {
      MappedByteBuffer buffer = file.map(FileChannel.MapMode.READ_ONLY, 0, file.size());
      boolean built = arguments.length == 4
          ? model.build(buffer, ModelType.MT_MINDIR_LITE, context, arguments[2].toCharArray(), "AES-GCM", arguments[3])
          : model.build(buffer, ModelType.MT_MINDIR_LITE, context);
      if (!built) {
        fail("build");
      }
    }
    context.free();
    MSTensor input = model.getInputs().get(0);
    byte[] bytes = Files.readAllBytes(Paths.get(arguments[1]));
    if (bytes.length != input.size() || !input.setData(bytes) || !model.predict()) {
      fail("predict");
    }
    for (String name : model.getOutputTensorNames()) {
      MSTensor output = model.getOutputByTensorName(name);
      float[] values = output.getFloatData();
      if (values.length != output.elementsNum()) {
        fail("output");
      }
      System.out.print(name);
      for (float value : values) {
        System.out.print(" " + value);
      }
      System.out.println();
    }
    model.free();
  }

  private static void fail(String what) {
    System.err.println(what + " failed");
    System.exit(1);
  }
}
