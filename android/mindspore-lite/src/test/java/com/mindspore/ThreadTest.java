package com.mindspore;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.mindspore.config.ModelType;
import com.mindspore.config.RunnerConfig;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;

class ThreadTest {
  /** Runs a task in several threads until all have ended; what one throws is thrown. */
  private static void inThreads(int count, Runnable task) throws InterruptedException {
    AtomicReference<Throwable> failure = new AtomicReference<>();
    List<Thread> threads = new ArrayList<>();
    for (int i = 0; i < count; ++i) {
      threads.add(new Thread(task));
    }
    for (Thread thread : threads) {
      thread.setUncaughtExceptionHandler((which, thrown) -> failure.compareAndSet(null, thrown));
      thread.start();
    }
    for (Thread thread : threads) {
      thread.join();
    }
    assertNull(failure.get());
  }

  @Test
  void requestsRunInTheirOrder() throws Exception {
    try (Model model = Digits.model()) {
      List<float[]> expected = new ArrayList<>();
      for (int i = 0; i < 8; ++i) {
        expected.add(Digits.run(model, i));
      }
      List<CompletableFuture<List<MSTensor>>> futures = new ArrayList<>();
      for (int i = 0; i < 8; ++i) {
        futures.add(model.predictAsync(Digits.images(i)));
      }
      for (int i = 0; i < 8; ++i) {
        MSTensor result = futures.get(i).get(1, TimeUnit.MINUTES).get(0);
        assertArrayEquals(expected.get(i), result.getFloatData());
        result.free();
      }
      assertTrue(Digits.input(model).setData(Digits.image(4)));
      CompletableFuture<Integer> digit =
          model.predictAsync().thenApply(outputs -> Digits.best(outputs.get(0).getFloatData()));
      assertEquals(Digits.best(expected.get(4)), digit.get(1, TimeUnit.MINUTES));
      assertArrayEquals(expected.get(4), Digits.output(model).getFloatData());
    }
  }

  @Test
  void requestsThatFailCompleteWithTheReason() throws Exception {
    try (Model model = Digits.model();
        Model unbuilt = new Model();
        MSTensor wrong = MSTensor.createTensor("image", new int[64])) {
      for (CompletableFuture<?> future :
          List.of(
              model.predictAsync(Collections.singletonList(wrong)), model.predictAsync(Collections.emptyList()),
              model.predictAsync((List<MSTensor>) null), model.predictAsync(Collections.singletonList(null)),
              model.predictAsync(), unbuilt.predictAsync())) {
        ExecutionException thrown = assertThrows(ExecutionException.class, () -> future.get(1, TimeUnit.MINUTES));
        assertInstanceOf(MindSporeException.class, thrown.getCause());
        assertFalse(thrown.getCause().getMessage().isEmpty());
      }
      assertEquals(Digits.CLASSES, Digits.run(model, 0).length, "and the model runs on");
    }
  }

  @Test
  void whatARequestUsesCannotBeChanged() throws Exception {
    try (Model model = Digits.model();
        MSTensor image = Digits.imageTensor(1)) {
      float[] expected = Digits.run(model, 1);
      CompletableFuture<Void> open = new CompletableFuture<>();
      AsyncResult first = new AsyncResult();
      CompletableFuture<Void> blocked = first.future.thenAccept(outputs -> open.join()); // holds the worker
      model.nativePredictAsync(model.handle(), null, first);
      CompletableFuture<List<MSTensor>> second = model.predictAsync(Collections.singletonList(image));
      CompletableFuture<List<MSTensor>> own = model.predictAsync();
      assertThrows(HandleMisuseException.class, () -> image.setData(Digits.image(2)));
      assertThrows(HandleMisuseException.class, () -> image.setShape(new int[] {64}));
      assertThrows(HandleMisuseException.class, () -> Digits.input(model).setData(Digits.image(2)));
      assertThrows(HandleMisuseException.class, () -> Digits.output(model).getFloatData());
      assertThrows(HandleMisuseException.class, model::predict);
      assertThrows(
          HandleMisuseException.class, () -> model.resize(model.getInputs(), new int[][] {{2, 8, 8, 1}}));
      assertArrayEquals(Digits.image(1), image.getFloatData(), "reading is no change");
      image.free(); // the request keeps it
      model.free();
      open.complete(null);
      blocked.get(1, TimeUnit.MINUTES);
      assertArrayEquals(expected, second.get(1, TimeUnit.MINUTES).get(0).getFloatData());
      assertArrayEquals(expected, own.get(1, TimeUnit.MINUTES).get(0).getFloatData());
    }
  }

  @Test
  void cancelingARequestEndsItAlone() throws Exception {
    try (Model model = Digits.model();
        MSTensor image = Digits.imageTensor(1);
        MSTensor other = Digits.imageTensor(2)) {
      float[] expected = Digits.run(model, 2);
      CompletableFuture<Void> open = new CompletableFuture<>();
      AsyncResult first = new AsyncResult();
      CompletableFuture<Void> blocked = first.future.thenAccept(outputs -> open.join()); // holds the worker
      model.nativePredictAsync(model.handle(), null, first);
      CompletableFuture<List<MSTensor>> waiting = model.predictAsync(Collections.singletonList(image));
      CompletableFuture<List<MSTensor>> next = model.predictAsync(Collections.singletonList(other));
      assertTrue(waiting.cancel(true));
      assertTrue(waiting.isCancelled());
      assertTrue(image.setData(Digits.image(3)), "the request has ended: its input is free");
      assertThrows(HandleMisuseException.class, () -> other.setData(Digits.image(3)));
      assertTrue(waiting.cancel(true), "again");
      open.complete(null);
      blocked.get(1, TimeUnit.MINUTES);
      assertArrayEquals(expected, next.get(1, TimeUnit.MINUTES).get(0).getFloatData());
      assertFalse(next.cancel(true), "it has ended");
      for (int i = 0; i < 200; ++i) { // while it waits, runs, or has ended
        CompletableFuture<List<MSTensor>> future = model.predictAsync(Collections.singletonList(other));
        if (i % 3 > 0) {
          Thread.sleep(0, i * 1000);
        }
        if (!future.cancel(false)) {
          future.get().forEach(MSTensor::free);
        }
      }
      model.predictAsync(Collections.singletonList(other)).get(1, TimeUnit.MINUTES).forEach(MSTensor::free);
      assertArrayEquals(expected, Digits.run(model, 2));
    }
  }

  @Test
  void manyThreadsOnOneModelNeverCrash() throws InterruptedException {
    for (int round = 0; round < 20; ++round) {
      Model model = Digits.model();
      Digits.run(model, 0);
      AtomicInteger calls = new AtomicInteger();
      inThreads(
          6,
          () -> {
            Random random = new Random();
            for (int i = 0; i < 60; ++i) {
              try {
                anyCall(model, random);
                calls.incrementAndGet();
              } catch (MindSporeException expected) {
                assertFalse(expected.getMessage().isEmpty());
              }
            }
          });
      model.close();
      assertTrue(calls.get() > 0);
    }
  }

  private static void anyCall(Model model, Random random) {
    switch (random.nextInt(12)) {
      case 0:
        Digits.input(model).setData(Digits.direct(Digits.image(random.nextInt(9))));
        break;
      case 1:
        Digits.input(model).setData(Digits.image(random.nextInt(9)));
        break;
      case 2:
        Digits.output(model).getFloatData();
        break;
      case 3:
        ByteBuffer view = Digits.output(model).getDataBuffer();
        if (view != null) {
          Digits.floats(view);
        }
        break;
      case 4:
        model.resize(model.getInputs(), new int[][] {{1 + random.nextInt(3), 8, 8, 1}});
        break;
      case 5:
        model.predictAsync(Digits.images(0));
        break;
      case 6:
        model.predictAsync().cancel(true);
        break;
      case 7:
        Digits.input(model).getByteData();
        break;
      case 8:
        if (random.nextInt(20) == 0) {
          model.free();
        }
        break;
      case 9:
        Digits.output(model).setData(ByteBuffer.allocateDirect(40));
        break;
      default:
        model.predict();
    }
  }

  @Test
  void aRunnerServesManyThreads() throws InterruptedException {
    try (Model model = Digits.model();
        ModelParallelRunner runner = new ModelParallelRunner();
        RunnerConfig config = new RunnerConfig()) {
      assertTrue(runner.getInputs().isEmpty());
      assertFalse(runner.predict(Digits.images(0), new ArrayList<>()));
      assertEquals(-1, config.getWorkersNum());
      assertTrue(config.init(Digits.context()), config.getLastError());
      config.setWorkersNum(2);
      HashMap<String, String> info = new HashMap<>();
      info.put("no_such_node", "data_type:float32");
      config.setConfigInfo("execution_plan", info);
      config.setDeviceIds(new ArrayList<>(Collections.singletonList(0)));
      assertEquals(2, config.getWorkersNum());
      assertEquals(Collections.singletonList(0), config.getDeviceIds());
      assertTrue(runner.init(Digits.FILE, config), runner.getLastError());
      assertFalse(runner.init(Digits.FILE), "a second time");
      assertTrue(runner.getModelParallelRunnerPtr() != 0);
      assertEquals(Digits.input(model).tensorName(), runner.getInputs().get(0).tensorName());
      assertEquals(Digits.output(model).tensorName(), runner.getOutputs().get(0).tensorName());
      List<float[]> expected = new ArrayList<>();
      for (int i = 0; i < 10; ++i) {
        expected.add(Digits.run(model, i));
      }
      inThreads(
          4,
          () -> {
            for (int i = 0; i < 50; ++i) {
              List<MSTensor> outputs = new ArrayList<>();
              assertTrue(runner.predict(Digits.images(i % 10), outputs), runner.getLastError());
              assertArrayEquals(expected.get(i % 10), outputs.get(0).getFloatData());
              outputs.forEach(MSTensor::free);
            }
          });
      config.setConfigPath("no/such.cfg");
      assertEquals("no/such.cfg", config.getConfigPath());
      try (ModelParallelRunner other = new ModelParallelRunner()) {
        assertFalse(other.init(Digits.FILE, config));
        assertTrue(other.getLastError().contains("no/such.cfg"), other.getLastError());
        assertThrows(MindSporeException.class, () -> other.initOrThrow("no/such.ms", null));
      }
    }
  }

  @Test
  void modelsAreBuiltInManyThreads() throws InterruptedException {
    float[] expected;
    try (Model model = Digits.model()) {
      expected = Digits.run(model, 1);
    }
    inThreads(
        4,
        () -> {
          for (int i = 0; i < 10; ++i) {
            Model model = new Model();
            assertTrue(model.build(Digits.FILE, ModelType.MT_MINDIR_LITE, Digits.context()));
            assertTrue(model.resize(model.getInputs(), new int[][] {{1, 8, 8, 1}}));
            assertArrayEquals(expected, Digits.run(model, 1));
          }
        });
  }
}
