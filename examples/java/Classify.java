import com.mindspore.MSTensor;
import com.mindspore.MindSporeException;
import com.mindspore.Model;
import com.mindspore.config.CpuBindMode;
import com.mindspore.config.DataType;
import com.mindspore.config.DeviceType;
import com.mindspore.config.MSContext;
import com.mindspore.config.ModelType;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Paths;

/**
 * {@code Classify MODEL.ms IMAGES.bin [COUNT]}: runs a model on each image of a file of float32 numbers, and prints the
 * class with the largest score. Dynamic dimensions are set to 1.
 */
public final class Classify {
  private Classify() {}

  public static void main(String[] arguments) throws IOException {
    if (arguments.length < 2) {
      System.err.println("usage: Classify MODEL.ms IMAGES.bin [COUNT]");
      System.exit(2);
    }
    int count = arguments.length > 2 ? Integer.parseInt(arguments[2]) : 1;
    ByteBuffer images = ByteBuffer.wrap(Files.readAllBytes(Paths.get(arguments[1])));
    try (MSContext context = new MSContext();
        Model model = new Model()) {
      context.init(2, CpuBindMode.NO_BIND);
      context.addDeviceInfo(DeviceType.DT_CPU, false);
      model.buildOrThrow(arguments[0], ModelType.MT_MINDIR_LITE, context);
      MSTensor input = model.getInputs().get(0);
      if (input.getDataType() != DataType.kNumberTypeFloat32) {
        System.err.println("the model's input is " + DataType.name(input.getDataType()) + ", not float32");
        System.exit(1);
      }
      int[] shape = input.getShape();
      for (int i = 0; i < shape.length; ++i) {
        shape[i] = Math.max(shape[i], 1);
      }
      model.resizeOrThrow(model.getInputs(), new int[][] {shape});

      // The memory of the tensor, so that the pixels are not copied again.
      ByteBuffer pixels = input.getDataBufferOrThrow();
      MSTensor output = model.getOutputs().get(0);
      for (int i = 0; i < count && images.remaining() >= pixels.capacity(); ++i) {
        ByteBuffer image = images.slice().order(ByteOrder.nativeOrder());
        image.limit(pixels.capacity());
        pixels.clear();
        pixels.put(image);
        images.position(images.position() + pixels.capacity());
        model.predictOrThrow();
        System.out.println(largest(output.getFloatData()));
      }
    } catch (MindSporeException e) {
      System.err.println(e.getMessage());
      System.exit(1);
    }
  }

  private static int largest(float[] values) {
    int best = 0;
    for (int i = 1; i < values.length; ++i) {
      if (values[i] > values[best]) {
        best = i;
      }
    }
    return best;
  }
}
