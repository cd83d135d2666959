package com.mindspore;

/** A model file that has been loaded but not built yet. */
public class Graph extends NativeHandle {
  public Graph() {
    super(0, true);
  }

  /**
   * Loads a {@code .ms} file. The suffix is optional.
   *
   * @return false on failure; {@link #getLastError()} returns the reason
   */
  public boolean load(String file) {
    return attempt(() -> loadOrThrow(file));
  }

  /** The same as {@link #load}, but throws a {@link MindSporeException}. */
  public void loadOrThrow(String file) {
    handleOrNone();
    replace(nativeLoad(utf8(file, "the file")));
  }

  /** Returns the handle of the native graph; 0 before {@link #load}. */
  public long getGraphPtr() {
    return handleOrNone();
  }

  private native long nativeLoad(byte[] file);
}
