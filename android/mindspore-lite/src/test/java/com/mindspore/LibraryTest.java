package com.mindspore;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.mindspore.config.AscendDeviceInfo;
import com.mindspore.config.CpuBindMode;
import com.mindspore.config.DataType;
import com.mindspore.config.DeviceType;
import com.mindspore.config.MSContext;
import com.mindspore.config.MindsporeLite;
import com.mindspore.config.ModelType;
import com.mindspore.config.NativeLibrary;
import com.mindspore.config.Version;
import java.io.File;
import java.util.ArrayList;
import java.util.Arrays;
import org.junit.jupiter.api.Test;

class LibraryTest {
  @Test
  void theLibraryComesFromTheJarAndLeavesNothingBehind() {
    NativeLibrary.load();
    MindsporeLite.init();
    assertTrue(Version.version().startsWith("MindSpore Lite "), Version.version());
    String[] left =
        new File(System.getProperty("java.io.tmpdir")).list((folder, name) -> name.startsWith("mindspore_lite_libs-"));
    assertEquals(0, left.length, Arrays.toString(left));
  }

  @Test
  void contextsKeepTheirSettings() {
    try (MSContext context = new MSContext()) {
      assertEquals(0, context.getMSContextPtr());
      assertEquals(-1, context.getThreadNum());
      assertEquals(-1, context.getInterOpParallelNum());
      assertEquals(-1, context.getThreadAffinityMode());
      assertTrue(context.getThreadAffinityCoreList().isEmpty());
      assertFalse(context.getEnableParallel());
      assertFalse(context.addDeviceInfo(DeviceType.DT_CPU, false));
      context.setThreadNum(3);
      assertTrue(context.getLastError().contains("not initialized"), context.getLastError());
      assertFalse(context.init(-1, CpuBindMode.NO_BIND));
      assertFalse(context.init(1, 7));
      assertTrue(context.init());
      assertEquals(2, context.getThreadNum());
      assertTrue(context.init(4, CpuBindMode.HIGHER_CPU, true));
      assertTrue(context.getMSContextPtr() != 0);
      assertEquals(4, context.getThreadNum());
      assertEquals(1, context.getThreadAffinityMode());
      assertTrue(context.getEnableParallel());
      context.setThreadNum(1);
      context.setInterOpParallelNum(1);
      context.setThreadAffinity(CpuBindMode.MID_CPU);
      context.setThreadAffinity(new ArrayList<>(Arrays.asList(0)));
      context.setEnableParallel(false);
      assertEquals(1, context.getThreadNum());
      assertEquals(1, context.getInterOpParallelNum());
      assertEquals(2, context.getThreadAffinityMode());
      assertEquals(Arrays.asList(0), context.getThreadAffinityCoreList());
      assertFalse(context.getEnableParallel());
      context.setThreadAffinity((ArrayList<Integer>) null);
      assertEquals(Arrays.asList(0), context.getThreadAffinityCoreList());
      assertFalse(context.addDeviceInfo(77, false));
      assertTrue(context.addDeviceInfo(DeviceType.DT_NPU, true, 4));
      assertFalse(context.addDeviceInfo(null));
      AscendDeviceInfo ascend = new AscendDeviceInfo();
      ascend.setDeviceID(1);
      assertTrue(context.addDeviceInfo(ascend));
      try (Model model = new Model()) {
        assertFalse(model.build(Digits.FILE, ModelType.MT_MINDIR_LITE, context));
        assertTrue(model.getLastError().contains("add a CPUDeviceInfo"), model.getLastError());
      }
    }
  }

  @Test
  void typesHaveNamesAndSizes() {
    assertEquals("float32", DataType.name(DataType.kNumberTypeFloat));
    assertEquals(DataType.kNumberTypeInt32, DataType.sized(DataType.kNumberTypeInt));
    assertEquals(ModelType.MT_MINDIR_LITE, ModelType.MT_MINDIR_OPT);
  }

  @Test
  void namesMayHaveEveryCharacter() {
    String name = "имя \uD83D\uDE00 \u0001";
    try (MSTensor tensor = MSTensor.createTensor(name, 1f)) {
      assertEquals(name, tensor.tensorName());
    }
    try (Model model = new Model();
        MSContext context = Digits.context()) {
      assertFalse(model.build("путь/\uD83D\uDE00.ms", ModelType.MT_MINDIR_LITE, context));
      assertTrue(model.getLastError().contains("путь/\uD83D\uDE00.ms"), model.getLastError());
    }
  }
}
