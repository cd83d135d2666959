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
   * Loads the library from {@code java.library.path} (on Android, from the app). If it is not there, copies the library
   * in the jar, {@code com/mindspore/lite/linux_<arch>/}, to a temporary folder in {@code java.io.tmpdir}, which is
   * deleted after loading. The library for training is copied too, if the jar contains it; otherwise {@code
   * libmindspore-lite.so} searches for it in its own folder. Models with a loss need it also for inference.
   *
   * @throws UnsatisfiedLinkError if no library is found for this machine; the message lists what was tried
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

  // The file of a loaded library is not needed any more.
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
