package android.os;

public final class SystemClock {
  private SystemClock() {}

  public static native long elapsedRealtime();
}
