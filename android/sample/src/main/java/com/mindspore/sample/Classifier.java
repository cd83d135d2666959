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

/** A model of the app that tells what an image shows. One thread uses it at a time. */
final class Classifier {
  private static final int THREADS = 2;
  // What networks trained on ImageNet expect of red, green and blue from 0 to 1.
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
   * Loads a model with one float32 input [1, height, width, 3], and its labels, one in each line.
   *
   * @throws IOException when a file is missing, or the model is another one
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
      throw new IOException("the context of " + modelFile + " cannot be made");
    }
    if (!model.build(map(assets, modelFile), ModelType.MT_MINDIR, context)) {
      throw new IOException(modelFile + " cannot be loaded; the log says why");
    }
    List<MSTensor> inputs = model.getInputs();
    int[] shape = inputs.get(0).getShape();
    if (inputs.size() != 1 || shape.length != 4 || shape[0] != 1 || shape[3] != 3) {
      throw new IOException(modelFile + " takes no single image [1, height, width, 3]");
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

  /** What the image shows; null when the model cannot be run, of which the log tells. The image may have any size. */
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

  // Scores become probabilities by softmax; what is one already stays the largest.
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

  /** Gives the memory of the model back; the classifier cannot be used any more. */
  void close() {
    model.free();
  }
}
