package com.mindspore;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.mindspore.config.MSContext;
import com.mindspore.config.ModelType;
import com.mindspore.config.TrainCfg;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A LeNet of the shared models learns. */
class TrainingTest {
  private static final String FILE = Digits.file("lenet_train.ms");

  @TempDir Path folder;

  private static Model model(String file) {
    return model(file, true);
  }

  private static Model model(String file, boolean keepGradients) {
    assumeTrue(Files.exists(Digits.path("lenet_train.ms")), "the shared models are not here");
    Model model = new Model();
    try (Graph graph = new Graph();
        MSContext context = Digits.context();
        TrainCfg config = new TrainCfg()) {
      assertTrue(config.init(), config.getLastError());
      assertTrue(keepGradients || config.setKeepGradients(false), config.getLastError());
      assertTrue(graph.load(file), graph.getLastError());
      assertTrue(model.build(graph, context, config), model.getLastError());
    }
    assertFalse(model.getTrainMode());
    return model;
  }

  private static void fill(Model model) {
    int first = 0;
    for (MSTensor input : model.getInputs()) {
      float[] values = new float[input.elementsNum()];
      for (int i = 0; i < values.length; ++i) {
        values[i] = (i * 7 + first) % 13 / 13f;
      }
      assertTrue(input.setData(values), input.getLastError());
      ++first;
    }
  }

  private static float[] train(Model model, int steps) {
    assertTrue(model.setTrainMode(true), model.getLastError());
    assertTrue(model.getTrainMode());
    fill(model);
    float[] losses = new float[steps];
    for (int i = 0; i < steps; ++i) {
      assertTrue(model.runStep(), model.getLastError());
      assertEquals(1, model.getOutputs().size());
      losses[i] = Digits.output(model).getFloatData()[0];
    }
    return losses;
  }

  private static float[] infer(Model model) {
    fill(model);
    assertTrue(model.predict(), model.getLastError());
    return Digits.output(model).getFloatData();
  }

  private static float[] evaluate(Model model) {
    assertTrue(model.setTrainMode(false), model.getLastError());
    return infer(model);
  }

  @Test
  void theLossFallsAndAFileGoesOn() {
    String state = folder.resolve("state.ms").toString();
    try (Model model = model(FILE)) {
      float[] losses = train(model, 4);
      for (int i = 1; i < losses.length; ++i) {
        assertTrue(losses[i] < losses[i - 1], Arrays.toString(losses));
      }
      assertTrue(model.export(state, 0, false, null), model.getLastError());
      float[] rest = train(model, 3);
      try (Model again = model(state)) {
        assertArrayEquals(rest, train(again, 3), 0f);
        assertArrayEquals(evaluate(model), evaluate(again), 0f);
      }
    }
  }

  @Test
  void givingGradientsUpChangesNothing() {
    try (Model keeps = model(FILE);
        Model givesUp = model(FILE, false)) {
      assertArrayEquals(train(keeps, 4), train(givesUp, 4), 0f);
      assertArrayEquals(evaluate(keeps), evaluate(givesUp), 0f);
    }
  }

  @Test
  void thePartForInferenceIsWritten() {
    String file = folder.resolve("trained.ms").toString();
    try (Model model = model(FILE);
        Model inference = new Model();
        MSContext context = Digits.context()) {
      train(model, 2);
      float[] expected = evaluate(model);
      assertTrue(model.export(folder.resolve("trained").toString(), 0, true, Collections.emptyList()));
      assertTrue(inference.build(file, ModelType.MT_MINDIR_LITE, context), inference.getLastError());
      assertArrayEquals(expected, infer(inference), 0f);
      assertFalse(model.export(file, 0, true, Collections.singletonList("there is none")));
      assertTrue(model.getLastError().contains("'there is none'"), model.getLastError());
      assertFalse(model.export(file, 0, true, Collections.singletonList(null)));
      assertFalse(model.export(file, 7, true, null));
      assertFalse(model.export(null, 0, true, null));
      assertFalse(model.export(folder.resolve("no/such/folder").toString(), 0, true, null));
      assertTrue(model.getLastError().contains("no/such/folder"), model.getLastError());
    }
  }

  @Test
  void anAdapterIsTrainedAndSwitched() {
    String file = folder.resolve("adapter.ms").toString();
    try (Model model = model(Digits.file("digits_lora.ms"));
        Model base = new Model();
        MSContext context = Digits.context()) {
      assertTrue(model.setTrainMode(true), model.getLastError());
      assertTrue(model.getInputs().get(0).setData(Digits.image(0)));
      assertTrue(model.getInputs().get(1).setData(new int[] {3}));
      for (int step = 0; step < 5; ++step) {
        assertTrue(model.runStep(), model.getLastError());
      }
      assertTrue(model.exportAdapter(folder.resolve("adapter").toString()), model.getLastError());
      assertFalse(model.loadAdapter(file), "it has those that it trains");
      assertTrue(model.setTrainMode(false) && model.predict(), model.getLastError());
      float[] trained = Digits.output(model).getFloatData();

      assertTrue(base.build(Digits.file("digits.ms"), ModelType.MT_MINDIR_LITE, context), base.getLastError());
      assertTrue(base.resize(base.getInputs(), new int[][] {{1, 8, 8, 1}}), base.getLastError());
      assertTrue(Digits.input(base).setData(Digits.image(0)) && base.predict());
      float[] before = Digits.output(base).getFloatData();
      assertTrue(base.loadAdapter(file), base.getLastError());
      assertFalse(base.loadAdapter(Digits.file("digits.ms")));
      assertTrue(base.getLastError().contains("not an adapter"), base.getLastError());
      assertFalse(base.loadAdapter(null));
      assertTrue(base.predict(), base.getLastError());
      assertArrayEquals(trained, Digits.output(base).getFloatData(), 1e-5f);
      assertFalse(Arrays.equals(trained, before));
      assertTrue(base.unloadAdapter() && base.predict(), base.getLastError());
      assertArrayEquals(before, Digits.output(base).getFloatData(), 0f);
      assertFalse(base.exportAdapter(file));
    }
  }

  @Test
  void weightsGoFromOneModelToAnother() {
    try (Model model = model(FILE);
        Model other = model(FILE)) {
      float[] untrained = evaluate(other);
      train(model, 3);
      float[] trained = evaluate(model);
      assertFalse(Arrays.equals(untrained, trained));
      MSTensor output = Digits.output(other);
      List<MSTensor> weights = model.getFeatureMaps();
      assertTrue(weights.size() > 1);
      assertTrue(other.updateFeatureMaps(weights), other.getLastError());
      assertEquals(0, output.getFloatData().length, "results of the old weights");
      assertArrayEquals(trained, infer(other), 0f);
      assertArrayEquals(trained, output.getFloatData(), 0f);
      assertFalse(other.updateFeatureMaps(Digits.images(0)));
      assertTrue(other.getLastError().contains("'image'"), other.getLastError());
      weights.forEach(MSTensor::free);
    }
  }

  @Test
  void outputsFollowTheMode() {
    try (Model model = model(FILE)) {
      MSTensor output = Digits.output(model);
      String name = output.tensorName();
      evaluate(model);
      assertTrue(output.getFloatData().length > 1);
      train(model, 1);
      assertEquals(1, output.getFloatData().length);
      assertNotEquals(name, output.tensorName());
      assertEquals(output.tensorName(), model.getOutputTensorNames().get(0));
      assertTrue(model.setTrainMode(true));
      assertEquals(1, output.getFloatData().length, "nothing has changed");
      evaluate(model);
      assertEquals(name, output.tensorName());
      assertEquals(name, model.getOutputByTensorName(name).tensorName());
    }
  }

  @Test
  void ratesAndVirtualBatches() {
    try (Model model = model(FILE)) {
      float rate = model.getLearningRate();
      assertTrue(rate > 0);
      assertTrue(model.setLearningRate(rate * 2), model.getLastError());
      assertEquals(rate * 2, model.getLearningRate());
      assertFalse(model.setLearningRate(-1f));
      assertTrue(model.getLastError().contains("negative"), model.getLastError());
      assertTrue(model.setupVirtualBatch(2, rate, -1f), model.getLastError());
      assertEquals(rate, model.getLearningRate());
      float[] losses = train(model, 3);
      assertEquals(losses[0], losses[1], "one update for two steps");
      assertNotEquals(losses[1], losses[2]);
      assertFalse(model.exportWeightsCollaborateWithMicro("x", false, false, null));
      assertTrue(model.getLastError().contains("is_inference"), model.getLastError());
      assertFalse(model.exportWeightsCollaborateWithMicro("/no/such/folder/x", true, true, null));
      assertTrue(model.getLastError().contains("/no/such/folder/x"), model.getLastError());
    }
  }

  @Test
  void stepsOfAnotherThreadAreNotDisturbed() throws Exception {
    try (Model model = model(FILE)) {
      float before = train(model, 1)[0];
      CompletableFuture<Void> open = new CompletableFuture<>();
      AsyncResult first = new AsyncResult();
      CompletableFuture<Void> blocked = first.future.thenAccept(outputs -> open.join()); // holds the worker
      model.nativePredictAsync(model.handle(), null, first);
      CompletableFuture<List<MSTensor>> second = model.predictAsync();
      assertThrows(HandleMisuseException.class, () -> model.setTrainMode(false));
      assertThrows(HandleMisuseException.class, () -> model.setupVirtualBatch(2, -1f, -1f));
      assertThrows(HandleMisuseException.class, model::getFeatureMaps);
      assertThrows(HandleMisuseException.class, () -> model.updateFeatureMaps(Digits.images(0)));
      open.complete(null);
      blocked.get();
      float loss = second.get().get(0).getFloatData()[0];
      assertTrue(loss < before, loss + " after " + before);
      assertTrue(model.setTrainMode(false), model.getLastError());
    }
  }

  @Test
  void whatCannotLearnIsRefused() {
    try (Model model = new Model();
        Graph graph = new Graph();
        MSContext context = Digits.context();
        TrainCfg config = new TrainCfg()) {
      assertEquals(0, config.getTrainCfgPtr());
      assertFalse(config.addMixPrecisionCfg(true, 128f, 1000), "before init");
      assertFalse(config.setKeepGradients(false), "before init");
      assertTrue(graph.load(Digits.FILE));
      assertFalse(model.build(graph, context, config), "before init");
      assertTrue(model.getLastError().contains("init()"), model.getLastError());
      assertTrue(config.init() && config.init("my_loss") && config.addMixPrecisionCfg(true, 128f, 1000));
      assertFalse(model.build(graph, context, config));
      assertTrue(model.getLastError().contains("'my_loss'"), model.getLastError());
      assertTrue(config.getTrainCfgPtr() != 0, "the configuration stays the caller's");
    }
  }

  @Test
  void modelsForInferenceDoNotTrain() {
    try (Model model = Digits.model()) {
      assertFalse(model.getTrainMode());
      assertTrue(model.setTrainMode(false));
      refused(model, model.setTrainMode(true));
      refused(model, model.setLearningRate(0.1f));
      refused(model, model.getLearningRate() != 0);
      refused(model, model.setupVirtualBatch(2, 0.1f, 0.9f));
      refused(model, !model.getFeatureMaps().isEmpty());
      refused(model, model.updateFeatureMaps(Collections.emptyList()));
      refused(model, model.export("x.ms", 0, true, null));
      assertTrue(Digits.input(model).setData(Digits.image(0)) && model.runStep(), "runs as predict does");
    }
  }

  private static void refused(Model model, boolean result) {
    assertFalse(result);
    assertTrue(model.getLastError().contains("a TrainCfg"), model.getLastError());
  }
}
