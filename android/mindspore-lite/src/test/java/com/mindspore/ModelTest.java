package com.mindspore;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.mindspore.config.DeviceType;
import com.mindspore.config.MSContext;
import com.mindspore.config.MindsporeLite;
import com.mindspore.config.ModelType;
import java.io.IOException;
import java.nio.MappedByteBuffer;
import java.nio.channels.FileChannel;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashMap;
import org.junit.jupiter.api.Test;

class ModelTest {
  private static MappedByteBuffer mapped() throws IOException {
    try (FileChannel file = FileChannel.open(Digits.path("digits.ms"))) {
      return file.map(FileChannel.MapMode.READ_ONLY, 0, file.size());
    }
  }

  @Test
  void givesTheNumbersOfThePythonApi() {
    float tolerance = Float.parseFloat(System.getProperty("mslite.test.tolerance"));
    try (Model model = Digits.model()) {
      for (int i = 0; i < 50; ++i) {
        float[] result = Digits.run(model, i);
        for (int k = 0; k < Digits.CLASSES; ++k) {
          assertTrue(Math.abs(Digits.expected(i)[k] - result[k]) <= tolerance, "image " + i + ", class " + k);
        }
      }
    }
  }

  /** Whose kernel the library for training has, though nothing trains. */
  @Test
  void aLossIsComputedInInference() {
    try (Model model = new Model();
        MSContext context = Digits.context()) {
      assertTrue(model.build(Digits.file("loss.ms"), ModelType.MT_MINDIR_LITE, context), model.getLastError());
      assertTrue(model.getInputs().get(0).setData(new float[] {0, 0, 0, 0, 0, 0}));
      assertTrue(model.getInputs().get(1).setData(new float[] {0, 0.5f, 1, 2, 3, -3}));
      assertTrue(model.predict(), model.getLastError());
      assertArrayEquals(new float[] {0, 0.125f, 0.5f, 1.5f, 2.5f, 2.5f}, Digits.output(model).getFloatData(), 0f);
    }
  }

  @Test
  void everyWayOfBuildingGivesTheSameModel() throws IOException {
    try (Model expected = Digits.model();
        MSContext context = Digits.context();
        Model ofBuffer = new Model();
        Graph graph = new Graph();
        Model ofGraph = new Model()) {
      assertTrue(ofBuffer.build(mapped(), ModelType.MT_MINDIR, context), ofBuffer.getLastError());
      assertEquals(0, graph.getGraphPtr());
      assertTrue(graph.load(Digits.FILE), graph.getLastError());
      assertTrue(ofGraph.build(graph, context, null), ofGraph.getLastError());
      for (Model model : Arrays.asList(ofBuffer, ofGraph)) {
        assertTrue(model.resize(model.getInputs(), new int[][] {{1, 8, 8, 1}}));
        assertArrayEquals(Digits.run(expected, 3), Digits.run(model, 3));
      }
    }
  }

  @Test
  void tensorsAreFoundByName() {
    try (Model model = Digits.model()) {
      String input = Digits.input(model).tensorName();
      String output = Digits.output(model).tensorName();
      assertEquals(Collections.singletonList(output), model.getOutputTensorNames());
      assertTrue(model.getInputByTensorName(input).setData(Digits.image(0)));
      assertTrue(model.predict());
      assertArrayEquals(Digits.output(model).getFloatData(), model.getOutputByTensorName(output).getFloatData());
      assertNull(model.getOutputByTensorName("nothing"));
      assertTrue(model.getLastError().contains("'nothing'"), model.getLastError());
      assertNull(model.getInputByTensorName(null));
      assertTrue(model.getOutputsByNodeName("nothing").isEmpty());
    }
  }

  @Test
  void resizesForMoreImages() {
    try (Model model = Digits.model()) {
      float[] first = Digits.run(model, 0);
      assertTrue(model.resize(model.getInputs(), new int[][] {{2, 8, 8, 1}}), model.getLastError());
      assertArrayEquals(new int[] {2, 8, 8, 1}, Digits.input(model).getShape());
      assertArrayEquals(new int[] {2, 10}, Digits.output(model).getShape());
      assertEquals(0, Digits.output(model).getFloatData().length, "results of the old shape");
      assertEquals(0, Digits.input(model).getFloatData().length, "contents of the old shape");
      float[] two = Arrays.copyOf(Digits.image(0), 2 * Digits.PIXELS);
      assertTrue(Digits.input(model).setData(two), Digits.input(model).getLastError());
      assertTrue(model.predict(), model.getLastError());
      assertArrayEquals(first, Arrays.copyOf(Digits.output(model).getFloatData(), Digits.CLASSES), 1e-6f);
      assertFalse(model.resize(model.getInputs(), new int[][] {{1, 9, 9, 7}}));
      assertFalse(model.resize(model.getInputs(), new int[][] {}));
      assertFalse(model.resize(model.getInputs(), new int[][] {null}));
      assertFalse(model.resize(null, null));
      assertArrayEquals(new int[] {2, 8, 8, 1}, Digits.input(model).getShape());
    }
  }

  @Test
  void failuresSayWhy() {
    try (Model model = new Model();
        MSContext context = Digits.context();
        MSContext empty = new MSContext()) {
      assertFalse(model.build("no/such.ms", ModelType.MT_MINDIR_LITE, context));
      assertTrue(model.getLastError().contains("no/such.ms"), model.getLastError());
      assertEquals(model.getLastError(), MindsporeLite.getLastError());
      assertFalse(model.build(Digits.file("images.bin"), ModelType.MT_MINDIR_LITE, context));
      assertFalse(model.build(Digits.FILE, ModelType.MT_ONNX, context));
      assertFalse(model.build(Digits.FILE, ModelType.MT_MINDIR_LITE, null));
      assertFalse(model.build((String) null, ModelType.MT_MINDIR_LITE, context));
      assertFalse(model.build("with\0nul.ms", ModelType.MT_MINDIR_LITE, context));
      assertFalse(model.build(Digits.FILE, ModelType.MT_MINDIR_LITE, empty));
      assertTrue(model.getLastError().contains("context is not initialized"), model.getLastError());
      assertTrue(empty.init());
      assertFalse(model.build(Digits.FILE, ModelType.MT_MINDIR_LITE, empty), "no device");
      assertTrue(empty.addDeviceInfo(DeviceType.DT_GPU, false));
      assertFalse(model.build(Digits.FILE, ModelType.MT_MINDIR_LITE, empty));
      assertTrue(model.getLastError().contains("add a CPUDeviceInfo"), model.getLastError());
      MindSporeException thrown =
          assertThrows(
              MindSporeException.class, () -> model.buildOrThrow("no/such.ms", ModelType.MT_MINDIR_LITE, context));
      assertEquals(MindSporeException.FILE_ERROR, thrown.getCode());

      assertFalse(model.predict());
      assertTrue(model.getInputs().isEmpty() && model.getOutputs().isEmpty());
      assertTrue(model.getLastError().contains("not built"), model.getLastError());
      assertTrue(model.build(Digits.FILE, ModelType.MT_MINDIR_LITE, context), model.getLastError());
      assertFalse(model.predict(), "without data");
      thrown =
          assertThrows(
              MindSporeException.class, () -> model.buildOrThrow(Digits.FILE, ModelType.MT_MINDIR_LITE, context));
      assertEquals(MindSporeException.MODEL_REBUILD, thrown.getCode());
    }
  }

  @Test
  void configurationComesBeforeTheBuild() {
    try (Model model = new Model();
        MSContext context = Digits.context()) {
      assertFalse(model.loadConfig("no/such.cfg"));
      HashMap<String, String> config = new HashMap<>();
      config.put("no_such_node", "data_type:float32");
      assertTrue(model.updateConfig("execution_plan", config), model.getLastError());
      assertFalse(model.updateConfig("execution_plan", null));
      assertTrue(model.build(Digits.FILE, ModelType.MT_MINDIR_LITE, context), model.getLastError());
      assertFalse(model.updateConfig("execution_plan", config));
    }
  }

  @Test
  void decryptionThatIsNotPossibleFails() throws IOException {
    try (Model model = new Model();
        MSContext context = Digits.context()) {
      char[] key = "0123456789abcdef".toCharArray();
      assertFalse(model.build(Digits.FILE, ModelType.MT_MINDIR_LITE, context, key, "NO-SUCH-MODE", "no/library"));
      assertFalse(model.getLastError().isEmpty());
      assertFalse(model.build(mapped(), ModelType.MT_MINDIR_LITE, context, key, "NO-SUCH-MODE", "no/library"));
      assertFalse(model.build(Digits.FILE, ModelType.MT_MINDIR_LITE, context, new char[0], "AES-GCM", ""));
      assertTrue(model.getLastError().contains("not 0"), model.getLastError());
      assertFalse(model.build(Digits.FILE, ModelType.MT_MINDIR_LITE, context, new char[33], "AES-GCM", ""));
      assertFalse(model.build(Digits.FILE, ModelType.MT_MINDIR_LITE, context, "ключ".toCharArray(), "AES-GCM", ""));
      assertFalse(model.build(Digits.FILE, ModelType.MT_MINDIR_LITE, context, null, "AES-GCM", ""));
      assertArrayEquals("0123456789abcdef".toCharArray(), key, "the caller's key");
    }
  }
}
