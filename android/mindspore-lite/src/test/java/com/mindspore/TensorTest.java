package com.mindspore;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.mindspore.config.DataType;
import com.mindspore.config.MindsporeLite;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.ReadOnlyBufferException;
import org.junit.jupiter.api.Test;

class TensorTest {
  private static MSTensor of(Object array) {
    MSTensor tensor = MSTensor.createTensor("t", array);
    assertNotNull(tensor, MindsporeLite.getLastError());
    return tensor;
  }

  @Test
  void arraysBecomeTensors() {
    try (MSTensor tensor = of(new float[][] {{1.5f, -2f, 3f}, {4f, 5f, 6f}})) {
      assertEquals("t", tensor.tensorName());
      assertEquals(DataType.kNumberTypeFloat32, tensor.getDataType());
      assertArrayEquals(new int[] {2, 3}, tensor.getShape());
      assertEquals(6, tensor.elementsNum());
      assertEquals(24, tensor.size());
      assertArrayEquals(new float[] {1.5f, -2f, 3f, 4f, 5f, 6f}, tensor.getFloatData());
      assertArrayEquals(new float[] {1.5f, -2f, 3f, 4f, 5f, 6f}, (float[]) tensor.getData());
    }
    try (MSTensor tensor = of(new int[][][] {{{7}, {-8}}})) {
      assertArrayEquals(new int[] {1, 2, 1}, tensor.getShape());
      assertArrayEquals(new int[] {7, -8}, (int[]) tensor.getData());
    }
    try (MSTensor tensor = of(new long[] {1L << 40})) {
      assertArrayEquals(new long[] {1L << 40}, (long[]) tensor.getData());
    }
    try (MSTensor tensor = of(new boolean[][] {{true, false}})) {
      assertEquals(DataType.kNumberTypeBool, tensor.getDataType());
      assertArrayEquals(new byte[] {1, 0}, (byte[]) tensor.getData());
    }
    try (MSTensor tensor = of(2.5)) {
      assertEquals(DataType.kNumberTypeFloat64, tensor.getDataType());
      assertArrayEquals(new int[0], tensor.getShape());
      assertEquals(2.5, ByteBuffer.wrap(tensor.getByteData()).order(ByteOrder.nativeOrder()).getDouble());
    }
    try (MSTensor tensor = of(new Integer[] {1, 2})) {
      assertArrayEquals(new int[] {1, 2}, tensor.getIntData());
    }
  }

  @Test
  void whatIsNoTensorIsRefused() {
    Object[] wrong = {
      null, "text", new float[0], new float[][] {{1f}, {}}, new float[][] {{1f}, null}, new char[] {'a'}
    };
    for (Object array : wrong) {
      assertNull(MSTensor.createTensor("t", array));
      assertFalse(MindsporeLite.getLastError().isEmpty());
    }
    assertNull(MSTensor.createTensor(null, new float[] {1f}));
    ByteBuffer four = ByteBuffer.allocateDirect(4);
    assertNull(MSTensor.createTensor("t", DataType.kNumberTypeFloat32, new int[] {2}, four));
    assertNull(MSTensor.createTensor("t", DataType.kNumberTypeFloat32, new int[] {-1}, four));
    assertNull(MSTensor.createTensor("t", DataType.kNumberTypeFloat32, new int[] {-7}, four));
    assertNull(MSTensor.createTensor("t", DataType.kNumberTypeFloat32, new int[] {Integer.MAX_VALUE}, four));
    assertNull(MSTensor.createTensor("t", DataType.kNumberTypeFloat32, new int[9], four));
    assertNull(MSTensor.createTensor("t", 999, new int[] {1}, four));
    assertNull(MSTensor.createTensor("t", DataType.kNumberTypeFloat32, null, four));
    assertNull(MSTensor.createTensor("t", DataType.kNumberTypeFloat32, new int[] {1}, null));
    assertThrows(MindSporeException.class, () -> MSTensor.createTensorOrThrow("t", "text"));
  }

  @Test
  void heapAndDirectBuffersGiveTheSame() {
    ByteBuffer heap = ByteBuffer.allocate(16).order(ByteOrder.nativeOrder());
    heap.putFloat(9f).putFloat(1f).putFloat(2f).putFloat(9f);
    heap.position(4).limit(12);
    try (MSTensor tensor = MSTensor.createTensor("t", DataType.kNumberTypeFloat, new int[] {2}, heap)) {
      assertArrayEquals(new float[] {1f, 2f}, tensor.getFloatData());
      assertEquals(4, heap.position(), "the caller's buffer is as it was");
      heap.putFloat(4, 5f);
      assertArrayEquals(new float[] {1f, 2f}, tensor.getFloatData(), "a copy");
      assertTrue(tensor.setData(heap));
      assertArrayEquals(new float[] {5f, 2f}, tensor.getFloatData());
    }
  }

  @Test
  void bytesAreNumbersOfTheMachine() {
    ByteBuffer bytes = ByteBuffer.allocate(8).order(ByteOrder.nativeOrder());
    try (MSTensor floats = of(new float[2]);
        MSTensor ints = of(new int[2]);
        MSTensor longs = of(new long[1])) {
      bytes.putFloat(0, 1.5f).putFloat(4, -3f);
      assertTrue(floats.setData(bytes.array()));
      assertArrayEquals(new float[] {1.5f, -3f}, floats.getFloatData());
      bytes.putInt(0, 70000).putInt(4, -1);
      assertTrue(ints.setData(bytes.array()));
      assertArrayEquals(new int[] {70000, -1}, ints.getIntData());
      bytes.putLong(0, 1L << 33);
      assertTrue(longs.setData(bytes.array()));
      assertArrayEquals(new long[] {1L << 33}, longs.getLongData());
    }
  }

  @Test
  void otherTypesAndSizesAreRefused() {
    try (MSTensor tensor = of(new float[2])) {
      assertFalse(tensor.setData(new int[2]));
      assertTrue(tensor.getLastError().contains("float32"), tensor.getLastError());
      assertFalse(tensor.setData(new long[1]));
      assertFalse(tensor.setData(new float[3]));
      assertTrue(tensor.getLastError().contains("12 bytes"), tensor.getLastError());
      assertFalse(tensor.setData(new byte[7]));
      assertFalse(tensor.setData((float[]) null));
      assertFalse(tensor.setData((ByteBuffer) null));
      assertFalse(tensor.setData(ByteBuffer.allocateDirect(9)));
      assertEquals(0, tensor.getIntData().length);
      assertEquals(0, tensor.getLongData().length);
      assertFalse(tensor.setShape(null));
      assertFalse(tensor.setShape(new int[9]));
      assertFalse(tensor.setShape(new int[] {-5}));
    }
  }

  @Test
  void contentsDoNotOutgrowTheirMemory() {
    try (MSTensor tensor = of(new float[] {1f, 2f, 3f, 4f})) {
      assertTrue(tensor.setShape(new int[] {2}));
      assertArrayEquals(new float[] {1f, 2f}, tensor.getFloatData());
      assertTrue(tensor.setShape(new int[] {1000, 1000}));
      assertEquals(0, tensor.getFloatData().length);
      assertTrue(tensor.getLastError().contains("no data"), tensor.getLastError());
      assertTrue(tensor.setData(new float[1000000]));
      assertEquals(1000000, tensor.getFloatData().length);
      assertTrue(tensor.setShape(new int[] {-1}));
      assertEquals(0, tensor.size());
      assertEquals(-1, tensor.elementsNum());
      assertFalse(tensor.setData(new float[4]));
    }
  }

  @Test
  void halvesAreConverted() {
    float[] values = {0f, -0f, 1f, -2.5f, 65504f, 65520f, 1e-7f, 5.9604645e-8f, 6.1e-5f, Float.NEGATIVE_INFINITY, 0.1f};
    float[] rounded = {
      0f, -0f, 1f, -2.5f, 65504f, Float.POSITIVE_INFINITY, 1.1920929e-7f, 5.9604645e-8f, 6.0975552e-5f,
      Float.NEGATIVE_INFINITY, 0.099975586f
    };
    ByteBuffer data = ByteBuffer.allocateDirect(2 * values.length);
    int[] shape = {values.length};
    try (MSTensor tensor = MSTensor.createTensor("t", DataType.kNumberTypeFloat16, shape, data)) {
      assertTrue(tensor.setData(values), tensor.getLastError());
      assertArrayEquals(rounded, tensor.getFloatData());
      assertEquals(2 * values.length, tensor.getByteData().length);
    }
    for (int bits = 0; bits < 0x10000; ++bits) {
      float value = Float16.toFloat((short) bits);
      if (!Float.isNaN(value)) {
        assertEquals((short) bits, Float16.fromFloat(value));
      } else {
        assertTrue(Float.isNaN(Float16.toFloat(Float16.fromFloat(value))));
      }
    }
  }

  @Test
  void directInputsAreNotCopied() {
    try (Model model = Digits.model()) {
      float[] three = Digits.run(model, 3);
      float[] five = Digits.run(model, 5);
      ByteBuffer image = Digits.direct(Digits.image(3));
      assertTrue(Digits.input(model).setData(image), Digits.input(model).getLastError());
      System.gc();
      assertTrue(model.predict());
      assertArrayEquals(three, Digits.output(model).getFloatData());
      image.asFloatBuffer().put(Digits.image(5)); // seen without another setData
      assertTrue(model.predict());
      assertArrayEquals(five, Digits.output(model).getFloatData());
      assertTrue(Digits.input(model).setData(Digits.image(3)), "a copy again");
      assertArrayEquals(Digits.image(5), Digits.floats(image), "the buffer is left alone");
      assertTrue(model.predict());
      assertArrayEquals(three, Digits.output(model).getFloatData());

      ByteBuffer own = Digits.input(model).getDataBuffer();
      own.asFloatBuffer().put(Digits.image(5));
      assertTrue(model.predict());
      assertArrayEquals(five, Digits.output(model).getFloatData());
      assertTrue(Digits.input(model).setData(Digits.direct(Digits.image(3)).asReadOnlyBuffer()));
      assertTrue(model.predict());
      assertArrayEquals(three, Digits.output(model).getFloatData());
    }
  }

  @Test
  void outputsAreWrittenIntoDirectBuffers() {
    ByteBuffer view;
    try (Model model = Digits.model()) {
      assertNull(Digits.output(model).getDataBuffer(), "nothing is computed yet");
      float[] three = Digits.run(model, 3);
      float[] five = Digits.run(model, 5);
      view = Digits.output(model).getDataBuffer();
      assertArrayEquals(five, Digits.floats(view));
      assertThrows(ReadOnlyBufferException.class, () -> Digits.output(model).getDataBuffer().put(0, (byte) 1));
      Digits.run(model, 3);
      assertArrayEquals(three, Digits.floats(view), "the run wrote there");

      ByteBuffer mine = Digits.direct(new float[Digits.CLASSES]);
      assertFalse(Digits.output(model).setData(mine.asReadOnlyBuffer()));
      assertFalse(Digits.output(model).setData(new float[Digits.CLASSES]));
      assertTrue(Digits.output(model).setData(mine), Digits.output(model).getLastError());
      assertEquals(0, Digits.output(model).getFloatData().length, "nothing is computed there yet");
      Digits.run(model, 5);
      assertArrayEquals(five, Digits.floats(mine));
      assertArrayEquals(three, Digits.floats(view), "the old buffer is left alone");

      // What does not fit goes elsewhere; the buffer stays the caller's.
      assertTrue(model.resize(model.getInputs(), new int[][] {{64, 8, 8, 1}}));
      assertTrue(Digits.input(model).setData(new float[64 * Digits.PIXELS]));
      assertTrue(model.predict());
      assertEquals(640, Digits.output(model).getFloatData().length);
      assertEquals(640, Digits.floats(Digits.output(model).getDataBuffer()).length);
    }
    System.gc();
    assertEquals(Digits.CLASSES, Digits.floats(view).length, "views outlive the model");
  }
}
