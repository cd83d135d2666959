package com.mindspore;

/** A model file that has been loaded and not been built yet. */
public class Graph extends NativeHandle {
  public Graph() {
    super(0, true);
  }

  /**
   * Loads a {@code .ms} file; the suffix may be left out.
   *
   * @return false when that fails; {@link #getLastError()} says why
   */
  public boolean load(String file) {
    return attempt(() -> loadOrThrow(file));
  }

  /** As {@link #load}, but throws a {@link MindSporeException}. */
  public void loadOrThrow(String file) {
    handleOrNone();
    replace(nativeLoad(utf8(file, "the file")));
  }

  /** The number of the native graph; 0 before {@link #load}. */
  public long getGraphPtr() {
    return handleOrNone();
  }

  private native long nativeLoad(byte[] file);
}
