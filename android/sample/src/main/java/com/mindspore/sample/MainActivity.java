package com.mindspore.sample;

import android.Manifest;
import android.app.Activity;
import android.content.pm.PackageManager;
import android.graphics.Bitmap;
import android.os.Bundle;
import android.os.Handler;
import android.os.HandlerThread;
import android.os.SystemClock;
import android.view.TextureView;
import android.widget.TextView;
import java.io.IOException;

/** Shows the camera image with the class that the model predicts. */
public class MainActivity extends Activity {
  private static final String MODEL = "model.ms";
  private static final String LABELS = "labels.txt";
  private static final int ASKED_FOR_CAMERA = 1;
  private static final long PAUSE_MILLISECONDS = 100;
  private static final int FRAME_SIZE = 320;

  private TextureView preview;
  private TextView label;
  private Camera camera;
  private HandlerThread thread;
  private Handler worker;
  private volatile Classifier classifier; // used on the worker thread
  private volatile boolean isActive;

  @Override
  protected void onCreate(Bundle state) {
    super.onCreate(state);
    setContentView(R.layout.main);
    preview = (TextureView) findViewById(R.id.preview);
    label = (TextView) findViewById(R.id.label);
    camera = new Camera(this, preview);
    thread = new HandlerThread("classifier");
    thread.start();
    worker = new Handler(thread.getLooper());
    worker.post(this::load);
  }

  @Override
  protected void onResume() {
    super.onResume();
    isActive = true;
    if (checkSelfPermission(Manifest.permission.CAMERA) == PackageManager.PERMISSION_GRANTED) {
      start();
    } else {
      requestPermissions(new String[] {Manifest.permission.CAMERA}, ASKED_FOR_CAMERA);
    }
  }

  @Override
  public void onRequestPermissionsResult(int request, String[] permissions, int[] results) {
    if (request != ASKED_FOR_CAMERA) {
      return;
    }
    if (results.length > 0 && results[0] == PackageManager.PERMISSION_GRANTED) {
      start();
    } else {
      label.setText(R.string.no_camera);
    }
  }

  @Override
  protected void onPause() {
    isActive = false;
    camera.stop();
    super.onPause();
  }

  @Override
  protected void onDestroy() {
    worker.post(
        () -> {
          if (classifier != null) {
            classifier.close();
          }
        });
    thread.quitSafely();
    super.onDestroy();
  }

  private void start() {
    camera.start();
    label.postDelayed(this::takeFrame, PAUSE_MILLISECONDS);
  }

  private void load() {
    try {
      classifier = new Classifier(getAssets(), MODEL, LABELS);
    } catch (IOException e) {
      runOnUiThread(() -> label.setText(getString(R.string.no_model, e.getMessage())));
    }
  }

  // Takes one frame. The next one is taken after its result is shown.
  private void takeFrame() {
    if (!isActive) {
      return;
    }
    Bitmap frame = preview.isAvailable() && classifier != null ? preview.getBitmap(FRAME_SIZE, FRAME_SIZE) : null;
    if (frame == null) {
      label.postDelayed(this::takeFrame, PAUSE_MILLISECONDS);
      return;
    }
    worker.post(() -> classify(frame));
  }

  private void classify(Bitmap frame) {
    long begin = SystemClock.elapsedRealtime();
    Classifier.Result result = classifier.classify(frame);
    long milliseconds = SystemClock.elapsedRealtime() - begin;
    runOnUiThread(
        () -> {
          if (result != null) {
            int percent = Math.round(100 * result.probability);
            label.setText(getString(R.string.result, result.label, percent, milliseconds));
          }
          takeFrame();
        });
  }
}
