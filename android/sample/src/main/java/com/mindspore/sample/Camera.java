package com.mindspore.sample;

import android.content.Context;
import android.graphics.SurfaceTexture;
import android.hardware.camera2.CameraAccessException;
import android.hardware.camera2.CameraCaptureSession;
import android.hardware.camera2.CameraCharacteristics;
import android.hardware.camera2.CameraDevice;
import android.hardware.camera2.CameraManager;
import android.hardware.camera2.CaptureRequest;
import android.util.Log;
import android.view.Surface;
import android.view.TextureView;
import java.util.Collections;

/** Shows the back camera in a view. Called on the main thread, after the app has the camera permission. */
final class Camera implements TextureView.SurfaceTextureListener {
  private static final String TAG = "mslite-sample";
  private static final int WIDTH = 640;
  private static final int HEIGHT = 480;

  private final CameraManager manager;
  private final TextureView view;
  private CameraDevice device;
  private boolean isWanted;

  Camera(Context context, TextureView view) {
    manager = (CameraManager) context.getSystemService(Context.CAMERA_SERVICE);
    this.view = view;
    view.setSurfaceTextureListener(this);
  }

  /** Shows the camera image as soon as the view is available. */
  void start() {
    isWanted = true;
    if (view.isAvailable()) {
      open();
    }
  }

  /** Releases the camera. */
  void stop() {
    isWanted = false;
    if (device != null) {
      device.close();
      device = null;
    }
  }

  private void open() {
    if (device != null) {
      return;
    }
    try {
      for (String id : manager.getCameraIdList()) {
        Integer facing = manager.getCameraCharacteristics(id).get(CameraCharacteristics.LENS_FACING);
        if (facing != null && facing == CameraCharacteristics.LENS_FACING_BACK) {
          manager.openCamera(id, new Opened(), null);
          return;
        }
      }
      Log.e(TAG, "the device has no back camera");
    } catch (CameraAccessException | SecurityException e) {
      Log.e(TAG, "the camera cannot be opened", e);
    }
  }

  private final class Opened extends CameraDevice.StateCallback {
    @Override
    public void onOpened(CameraDevice opened) {
      if (!isWanted) {
        opened.close();
        return;
      }
      device = opened;
      SurfaceTexture texture = view.getSurfaceTexture();
      texture.setDefaultBufferSize(WIDTH, HEIGHT);
      Surface surface = new Surface(texture);
      try {
        CaptureRequest.Builder request = opened.createCaptureRequest(CameraDevice.TEMPLATE_PREVIEW);
        request.addTarget(surface);
        opened.createCaptureSession(Collections.singletonList(surface), new Configured(request.build()), null);
      } catch (CameraAccessException e) {
        Log.e(TAG, "the capture session cannot be created", e);
      }
    }

    @Override
    public void onDisconnected(CameraDevice gone) {
      gone.close();
      device = null;
    }

    @Override
    public void onError(CameraDevice failed, int error) {
      Log.e(TAG, "the camera failed: " + error);
      failed.close();
      device = null;
    }
  }

  private static final class Configured extends CameraCaptureSession.StateCallback {
    private final CaptureRequest request;

    Configured(CaptureRequest request) {
      this.request = request;
    }

    @Override
    public void onConfigured(CameraCaptureSession session) {
      try {
        session.setRepeatingRequest(request, null, null);
      } catch (CameraAccessException | IllegalStateException e) {
        Log.e(TAG, "the camera preview cannot be started", e);
      }
    }

    @Override
    public void onConfigureFailed(CameraCaptureSession session) {
      Log.e(TAG, "the camera does not support images of " + WIDTH + " x " + HEIGHT);
    }
  }

  @Override
  public void onSurfaceTextureAvailable(SurfaceTexture texture, int width, int height) {
    if (isWanted) {
      open();
    }
  }

  @Override
  public void onSurfaceTextureSizeChanged(SurfaceTexture texture, int width, int height) {}

  @Override
  public boolean onSurfaceTextureDestroyed(SurfaceTexture texture) {
    stop();
    return true;
  }

  @Override
  public void onSurfaceTextureUpdated(SurfaceTexture texture) {}
}
