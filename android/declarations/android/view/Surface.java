package android.view;

import android.graphics.SurfaceTexture;

public class Surface {
  public Surface(SurfaceTexture surfaceTexture) {}
}
