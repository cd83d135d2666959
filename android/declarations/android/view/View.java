package android.view;

public class View {
  public native boolean postDelayed(Runnable action, long delayMillis);
}
