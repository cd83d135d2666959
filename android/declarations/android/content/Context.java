package android.content;

import android.content.res.AssetManager;

public abstract class Context {
  public static final String CAMERA_SERVICE = "camera";

  public native Object getSystemService(String name);

  public native int checkSelfPermission(String permission);

  public native AssetManager getAssets();

  public final native String getString(int resId, Object... formatArgs);
}
