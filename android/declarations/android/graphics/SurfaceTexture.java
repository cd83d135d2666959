package android.graphics;

public class SurfaceTexture {
  public native void setDefaultBufferSize(int width, int height);
}
