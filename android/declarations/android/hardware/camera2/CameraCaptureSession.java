package android.hardware.camera2;

import android.os.Handler;

public abstract class CameraCaptureSession {
  public abstract static class StateCallback {
    public abstract void onConfigured(CameraCaptureSession session);

    public abstract void onConfigureFailed(CameraCaptureSession session);
  }

  public abstract static class CaptureCallback {}

  public abstract int setRepeatingRequest(CaptureRequest request, CaptureCallback listener, Handler handler)
      throws CameraAccessException;
}
