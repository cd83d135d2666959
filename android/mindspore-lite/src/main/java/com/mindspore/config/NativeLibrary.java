package com.mindspore.config;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;

/** Loads the native libraries, each once, from the library path or else from the jar. */
public class NativeLibrary {
  private static final String[] FILES = {"libmindspore-lite.so", "libmindspore-lite-jni.so"};
  private static final String TRAINING_FILE = "libmindspore-lite-train.so";

  private static boolean isLoaded = false;

  private NativeLibrary() {}

  /**
   * Loads the library of {@code java.library.path} (on Android: of the app), or else copies the one of the jar, {@code
   * com/mindspore/lite/linux_<arch>/}, into a folder of its own under {@code java.io.tmpdir}, which goes when the
   * library is loaded. The library for training, which models with a loss need for inference, too, is among these where
   * the jar has it: elsewhere {@code libmindspore-lite.so} finds it beside itself.
   *
   * @throws UnsatisfiedLinkError when neither is there or fits this machine; the message says what was tried
   */
  public static synchronized void load() {
    if (isLoaded) {
      return;
    }
    try {
      System.loadLibrary("mindspore-lite-jni");
    } catch (UnsatisfiedLinkError e) {
      List<String> files = new ArrayList<>(Arrays.asList(FILES));
      if (loader().getResource(resource(TRAINING_FILE)) != null) {
        files.add(TRAINING_FILE);
      }
      loadFromJar("; java.library.path: " + e.getMessage(), files);
    }
    isLoaded = true;
  }

  private static void loadFromJar(String triedBefore, List<String> libraries) {
    try {
      Path folder = Files.createTempDirectory("mindspore_lite_libs-");
      try {
        for (String file : libraries) {
          copy(file, folder.resolve(file), triedBefore);
        }
        for (String file : libraries) {
          System.load(folder.resolve(file).toString());
        }
      } finally {
        delete(folder);
      }
    } catch (IOException e) {
      throw new UnsatisfiedLinkError("copying the libraries of the jar failed: " + e + triedBefore);
    }
  }

  private static void copy(String file, Path target, String triedBefore) throws IOException {
    try (InputStream source = loader().getResourceAsStream(resource(file))) {
      if (source == null) {
        throw new UnsatisfiedLinkError("the class path has no " + resource(file) + triedBefore);
      }
      Files.copy(source, target);
    }
  }

  private static ClassLoader loader() {
    return NativeLibrary.class.getClassLoader();
  }

  private static String resource(String file) {
    return "com/mindspore/lite/linux_" + architecture() + "/" + file;
  }

  // A loaded library needs its file no longer.
  private static void delete(Path folder) throws IOException {
    try (DirectoryStream<Path> files = Files.newDirectoryStream(folder)) {
      for (Path file : files) {
        Files.delete(file);
      }
    }
    Files.delete(folder);
  }

  private static String architecture() {
    String name = System.getProperty("os.arch").toLowerCase(Locale.ROOT);
    return name.equals("amd64") ? "x86_64" : name;
  }
}
