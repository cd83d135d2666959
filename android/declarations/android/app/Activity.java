package android.app;

import android.content.Context;
import android.os.Bundle;
import android.view.View;

public class Activity extends Context {
  protected native void onCreate(Bundle savedInstanceState);

  protected native void onResume();

  protected native void onPause();

  protected native void onDestroy();

  public native void onRequestPermissionsResult(int requestCode, String[] permissions, int[] grantResults);

  public final native void requestPermissions(String[] permissions, int requestCode);

  public native void setContentView(int layoutResID);

  public native View findViewById(int id);

  public final native void runOnUiThread(Runnable action);
}
