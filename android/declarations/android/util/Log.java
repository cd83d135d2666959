package android.util;

public final class Log {
  private Log() {}

  public static native int e(String tag, String msg);

  public static native int e(String tag, String msg, Throwable tr);
}
