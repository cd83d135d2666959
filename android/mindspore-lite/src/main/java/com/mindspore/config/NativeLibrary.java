package com.mindspore.config;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;

/** Loads the native library once, from the library path or else from the jar. */
public class NativeLibrary {
  private static final String[] FILES = {"libmindspore-lite.so", "libmindspore-lite-jni.so"};

  private static boolean isLoaded = false;

  private NativeLibrary() {}

  /**
   * Loads the library of {@code java.library.path} (on Android: of the app), or else copies the one of the jar, {@code
   * com/mindspore/lite/linux_<arch>/}, into a folder of its own under {@code java.io.tmpdir}, which goes when the
   * library is loaded.
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
      loadFromJar(e);
    }
    isLoaded = true;
  }

  private static void loadFromJar(UnsatisfiedLinkError before) {
    try {
      Path folder = Files.createTempDirectory("mindspore_lite_libs-");
      try {
        for (String file : FILES) {
          copy(file, folder.resolve(file), before);
        }
        for (String file : FILES) {
          System.load(folder.resolve(file).toString());
        }
      } finally {
        delete(folder);
      }
    } catch (IOException e) {
      throw failure("copying the libraries of the jar failed: " + e, before);
    }
  }

  private static void copy(String file, Path target, UnsatisfiedLinkError before) throws IOException {
    String resource = "com/mindspore/lite/linux_" + architecture() + "/" + file;
    try (InputStream source = NativeLibrary.class.getClassLoader().getResourceAsStream(resource)) {
      if (source == null) {
        throw failure("the class path has no " + resource, before);
      }
      Files.copy(source, target);
    }
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

  private static UnsatisfiedLinkError failure(String reason, UnsatisfiedLinkError before) {
    return new UnsatisfiedLinkError(reason + "; java.library.path: " + before.getMessage());
  }
}
