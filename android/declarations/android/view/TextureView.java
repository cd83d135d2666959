package android.view;

import android.graphics.Bitmap;
import android.graphics.SurfaceTexture;

public class TextureView extends View {
  public interface SurfaceTextureListener {
    void onSurfaceTextureAvailable(SurfaceTexture surface, int width, int height);

    void onSurfaceTextureSizeChanged(SurfaceTexture surface, int width, int height);

    boolean onSurfaceTextureDestroyed(SurfaceTexture surface);

    void onSurfaceTextureUpdated(SurfaceTexture surface);
  }

  public native void setSurfaceTextureListener(SurfaceTextureListener listener);

  public native SurfaceTexture getSurfaceTexture();

  public native boolean isAvailable();

  public native Bitmap getBitmap(int width, int height);
}
