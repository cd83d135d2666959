package android.graphics;

public final class Bitmap {
  private Bitmap() {}

  public static native Bitmap createScaledBitmap(Bitmap src, int dstWidth, int dstHeight, boolean filter);

  public native void getPixels(int[] pixels, int offset, int stride, int x, int y, int width, int height);
}
