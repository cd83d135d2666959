package com.mindspore;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.mindspore.config.MSContext;
import com.mindspore.config.ModelType;
import com.mindspore.config.RunnerConfig;
import com.mindspore.config.TrainCfg;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;

class HandleTest {
  private static void misuse(Executable call) {
    HandleMisuseException thrown = assertThrows(HandleMisuseException.class, call);
    assertTrue(thrown.getCode() < 0 && !thrown.getMessage().isEmpty());
  }

  @Test
  void freeingTwiceThrowsAndClosingTwiceDoesNot() {
    List<NativeHandle> objects =
        Arrays.asList(
            new Model(), new Graph(), new MSContext(), new TrainCfg(), new RunnerConfig(), new ModelParallelRunner(),
            MSTensor.createTensor("t", new float[] {1f}), new MSTensor());
    for (NativeHandle object : objects) {
      object.free();
      misuse(object::free);
      object.close();
      object.close();
    }
  }

  @Test
  void everyCallAfterFreeThrows() {
    Model model = Digits.model();
    MSTensor input = Digits.input(model);
    MSTensor output = Digits.output(model);
    float[] result = Digits.run(model, 0);
    assertEquals(Digits.CLASSES, result.length);
    model.free();
    misuse(model::predict);
    misuse(model::predictAsync);
    misuse(model::getInputs);
    misuse(model::getOutputs);
    misuse(() -> model.resize(Arrays.asList(input), new int[][] {{1, 8, 8, 1}}));
    misuse(() -> model.build(Digits.FILE, ModelType.MT_MINDIR_LITE, Digits.context()));
    misuse(() -> model.setTrainMode(true));
    misuse(model::getTrainMode);
    // Its tensors went with it.
    misuse(input::getShape);
    misuse(() -> input.setData(Digits.image(0)));
    misuse(output::getFloatData);
    misuse(output::getDataBuffer);
    misuse(output::tensorName);
    input.free(); // as programs of MindSpore Lite do
    misuse(input::free);

    MSTensor tensor = MSTensor.createTensor("t", new float[] {1f});
    tensor.free();
    misuse(tensor::getData);
    misuse(tensor::getMSTensorPtr);
    misuse(() -> tensor.setShape(new int[] {1}));

    MSContext context = Digits.context();
    context.free();
    misuse(context::getThreadNum);
    misuse(() -> new Model().build(Digits.FILE, ModelType.MT_MINDIR_LITE, context));
    assertTrue(context.init(), "may be initialized again");
    assertEquals(2, context.getThreadNum());
  }

  @Test
  void tensorsOfAModelStayWhenAnObjectIsFreed() {
    try (Model model = Digits.model()) {
      Digits.input(model).free();
      MSTensor output = Digits.output(model);
      float[] result = Digits.run(model, 2);
      assertArrayEquals(result, output.getFloatData());
      output.free();
      misuse(output::getFloatData);
      assertArrayEquals(result, Digits.output(model).getFloatData());
    }
  }

  @Test
  void madeUpNumbersThrow() {
    for (long number : new long[] {1, 12345, -7, Long.MAX_VALUE, Long.MIN_VALUE, 0x7f0000001000L}) {
      misuse(() -> new MSTensor(number).getShape());
      misuse(() -> new MSTensor(number).setData(new byte[1]));
      misuse(() -> new Model(number).predict());
    }
    assertThrows(MindSporeException.class, () -> new MSTensor().getShape());
    try (Model model = Digits.model();
        MSContext context = Digits.context()) {
      // The number of an object of another class.
      misuse(() -> new MSTensor(context.getMSContextPtr()).getShape());
      misuse(() -> new Model(Digits.input(model).getMSTensorPtr()).predict());
    }
  }

  @Test
  void anotherObjectOfTheSameNumberIsTheSameTensor() {
    MSTensor tensor = MSTensor.createTensor("t", new float[] {1f, 2f});
    MSTensor same = new MSTensor(tensor.getMSTensorPtr());
    assertTrue(same.setData(new float[] {3f, 4f}));
    assertArrayEquals(new float[] {3f, 4f}, tensor.getFloatData());
    tensor.free();
    misuse(same::getFloatData);
    misuse(same::free);
  }

  @Test
  void whatNobodyRefersToIsFreed() throws InterruptedException {
    long number = MSTensor.createTensor("t", new float[1 << 20]).getMSTensorPtr();
    for (int i = 0; i < 100; ++i) {
      System.gc();
      Thread.sleep(10);
      new Graph().free(); // frees what was collected
      try (MSTensor same = new MSTensor(number)) {
        same.getShape();
      } catch (HandleMisuseException gone) {
        return;
      }
    }
    assertFalse(true, "the tensor is still there");
  }

  @Test
  void tensorsKeepTheirModel() throws InterruptedException {
    MSTensor output = Digits.output(Digits.model());
    for (int i = 0; i < 5; ++i) {
      System.gc();
      Thread.sleep(10);
      new Graph().free();
    }
    assertArrayEquals(new int[] {1, 10}, output.getShape());
  }
}
