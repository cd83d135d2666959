package com.mindspore.sample;

import android.content.res.AssetFileDescriptor;
import android.content.res.AssetManager;
import android.graphics.Bitmap;
import com.mindspore.MSTensor;
import com.mindspore.Model;
import com.mindspore.config.CpuBindMode;
import com.mindspore.config.DeviceType;
import com.mindspore.config.MSContext;
import com.mindspore.config.ModelType;
import java.io.BufferedReader;
import java.io.FileInputStream;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.FloatBuffer;
import java.nio.MappedByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/** Classifies images with a model. Not thread-safe. */
final class Classifier {
  private static final int THREADS = 2;
  // Normalization of networks trained on ImageNet, for red, green and blue in the range [0, 1].
  private static final float[] MEAN = {0.485f, 0.456f, 0.406f};
  private static final float[] DEVIATION = {0.229f, 0.224f, 0.225f};

  private final Model model = new Model();
  private final List<String> labels = new ArrayList<>();
  private final MSTensor input;
  private final int height;
  private final int width;
  private final int[] pixels;
  private final ByteBuffer values;

  /** The most probable class of an image. */
  static final class Result {
    final String label;
    final float probability;

    Result(String label, float probability) {
      this.label = label;
      this.probability = probability;
    }
  }

  /**
   * Loads a model with one float32 input [1, height, width, 3], and its labels, one per line.
   *
   * @throws IOException if a file is missing, or the model has other inputs
   */
  Classifier(AssetManager assets, String modelFile, String labelFile) throws IOException {
    try (BufferedReader reader =
        new BufferedReader(new InputStreamReader(assets.open(labelFile), StandardCharsets.UTF_8))) {
      for (String line = reader.readLine(); line != null; line = reader.readLine()) {
        labels.add(line);
      }
    }
    MSContext context = new MSContext();
    if (!context.init(THREADS, CpuBindMode.NO_BIND) || !context.addDeviceInfo(DeviceType.DT_CPU, false)) {
      throw new IOException("the context for " + modelFile + " cannot be created");
    }
    if (!model.build(map(assets, modelFile), ModelType.MT_MINDIR, context)) {
      throw new IOException(modelFile + " cannot be loaded; the log has the reason");
    }
    List<MSTensor> inputs = model.getInputs();
    int[] shape = inputs.get(0).getShape();
    if (inputs.size() != 1 || shape.length != 4 || shape[0] != 1 || shape[3] != 3) {
      throw new IOException(modelFile + " does not have one input [1, height, width, 3]");
    }
    input = inputs.get(0);
    height = shape[1];
    width = shape[2];
    pixels = new int[height * width];
    values = ByteBuffer.allocateDirect(height * width * 3 * Float.BYTES).order(ByteOrder.nativeOrder());
  }

  private static MappedByteBuffer map(AssetManager assets, String file) throws IOException {
    try (AssetFileDescriptor descriptor = assets.openFd(file);
        FileInputStream stream = new FileInputStream(descriptor.getFileDescriptor())) {
      return stream
          .getChannel()
          .map(FileChannel.MapMode.READ_ONLY, descriptor.getStartOffset(), descriptor.getLength());
    }
  }

  /** Returns the most probable class of an image of any size; null if the run failed (the log has the reason). */
  Result classify(Bitmap image) {
    Bitmap scaled = Bitmap.createScaledBitmap(image, width, height, true);
    scaled.getPixels(pixels, 0, width, 0, 0, width, height);
    FloatBuffer floats = values.asFloatBuffer();
    for (int pixel : pixels) {
      for (int channel = 0; channel < 3; channel++) {
        float value = ((pixel >> (16 - 8 * channel)) & 0xFF) / 255f;
        floats.put((value - MEAN[channel]) / DEVIATION[channel]);
      }
    }
    if (!input.setData(values) || !model.predict()) {
      return null;
    }
    return best(model.getOutputs().get(0).getFloatData());
  }

  // Converts scores to probabilities by softmax. If the model already returns probabilities, the order stays the same.
  private Result best(float[] scores) {
    int best = 0;
    for (int i = 1; i < scores.length; i++) {
      if (scores[i] > scores[best]) {
        best = i;
      }
    }
    double sum = 0;
    for (float score : scores) {
      sum += Math.exp(score - scores[best]);
    }
    String label = best < labels.size() ? labels.get(best) : "class " + best;
    return new Result(label, (float) (1 / sum));
  }

  /** Frees the model. The classifier cannot be used afterwards. */
  void close() {
    model.free();
  }
}
