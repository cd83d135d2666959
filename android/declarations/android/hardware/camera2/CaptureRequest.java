package android.hardware.camera2;

import android.view.Surface;

public final class CaptureRequest {
  private CaptureRequest() {}

  public static final class Builder {
    private Builder() {}

    public native void addTarget(Surface outputTarget);

    public native CaptureRequest build();
  }
}
