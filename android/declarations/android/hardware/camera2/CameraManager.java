package android.hardware.camera2;

import android.os.Handler;

public final class CameraManager {
  private CameraManager() {}

  public native String[] getCameraIdList() throws CameraAccessException;

  public native CameraCharacteristics getCameraCharacteristics(String cameraId) throws CameraAccessException;

  public native void openCamera(String cameraId, CameraDevice.StateCallback callback, Handler handler)
      throws CameraAccessException;
}
