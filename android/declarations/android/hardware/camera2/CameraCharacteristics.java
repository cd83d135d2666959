package android.hardware.camera2;

public final class CameraCharacteristics {
  private CameraCharacteristics() {}

  public static final class Key<T> {
    private Key() {}
  }

  public static final Key<Integer> LENS_FACING = new Key<>();
  public static final int LENS_FACING_BACK = 1;

  public native <T> T get(Key<T> key);
}
