package android.os;

public class Handler {
  public Handler(Looper looper) {}

  public final native boolean post(Runnable r);
}
