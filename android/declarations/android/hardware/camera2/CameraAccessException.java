package android.hardware.camera2;

public class CameraAccessException extends Exception {
  private static final long serialVersionUID = 1L;
}
