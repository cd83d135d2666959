package android.widget;

import android.view.View;

public class TextView extends View {
  public final native void setText(CharSequence text);

  public final native void setText(int resid);
}
