package com.mindspore;

import static org.junit.jupiter.api.Assertions.assertTrue;

import com.mindspore.config.DeviceType;
import com.mindspore.config.MSContext;
import com.mindspore.config.ModelType;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;

/** The digit recognizer of {@code examples/digits}, and its test images. Images are [1, 8, 8, 1], results [1, 10]. */
final class Digits {
  static final int PIXELS = 64;
  static final int CLASSES = 10;
  static final String FILE = file("digits.ms");

  private Digits() {}

  static String file(String name) {
    return Paths.get(System.getProperty("mslite.test.data"), name).toString();
  }

  private static ByteBuffer bytes(String name) {
    try {
      return ByteBuffer.wrap(Files.readAllBytes(Paths.get(file(name)))).order(ByteOrder.nativeOrder());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static float[] floats(String name, int index, int count) {
    float[] values = new float[count];
    ByteBuffer all = bytes(name);
    all.position(4 * count * index);
    all.asFloatBuffer().get(values);
    return values;
  }

  static float[] image(int index) {
    return floats("images.bin", index, PIXELS);
  }

  /** What the Python API computes of it. */
  static float[] expected(int index) {
    return floats("results.bin", index, CLASSES);
  }

  static MSContext context() {
    MSContext context = new MSContext();
    assertTrue(context.init(1, 0));
    assertTrue(context.addDeviceInfo(DeviceType.DT_CPU, false));
    return context;
  }

  /** Built, for one image. */
  static Model model() {
    Model model = new Model();
    try (MSContext context = context()) {
      assertTrue(model.build(FILE, ModelType.MT_MINDIR_LITE, context), model.getLastError());
    }
    assertTrue(model.resize(model.getInputs(), new int[][] {{1, 8, 8, 1}}), model.getLastError());
    return model;
  }

  static MSTensor input(Model model) {
    return model.getInputs().get(0);
  }

  static MSTensor output(Model model) {
    return model.getOutputs().get(0);
  }

  /** Sets an image and runs. */
  static float[] run(Model model, int index) {
    assertTrue(input(model).setData(image(index)), input(model).getLastError());
    assertTrue(model.predict(), model.getLastError());
    return output(model).getFloatData();
  }

  static int best(float[] values) {
    int best = 0;
    for (int i = 1; i < values.length; ++i) {
      best = values[i] > values[best] ? i : best;
    }
    return best;
  }

  static ByteBuffer direct(float[] values) {
    ByteBuffer buffer = ByteBuffer.allocateDirect(4 * values.length).order(ByteOrder.nativeOrder());
    buffer.asFloatBuffer().put(values);
    return buffer;
  }

  static float[] floats(ByteBuffer buffer) {
    float[] values = new float[buffer.remaining() / 4];
    buffer.asFloatBuffer().get(values);
    return values;
  }

  static MSTensor imageTensor(int index) {
    MSTensor tensor = MSTensor.createTensor("image", 43, new int[] {1, 8, 8, 1}, direct(image(index)));
    assertTrue(tensor != null && Arrays.equals(tensor.getFloatData(), image(index)));
    return tensor;
  }

  static List<MSTensor> images(int index) {
    return Collections.singletonList(imageTensor(index));
  }

  static Path path(String name) {
    return Paths.get(file(name));
  }
}
