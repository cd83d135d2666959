package com.mindspore;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;

/** What the native library calls when a request of {@code predictAsync} has ended. */
final class AsyncResult {
  final CompletableFuture<List<MSTensor>> future = new Request();
  volatile long request; // 0 until it has been given to the native library

  /** Called by the native library, from the thread that ran the request. {@code code} 0: it ran. */
  void finish(long[] outputs, int code, byte[] message) {
    if (code != 0) {
      future.completeExceptionally(new MindSporeException(code, message));
      return;
    }
    List<MSTensor> tensors = new ArrayList<>(outputs.length);
    for (long output : outputs) {
      tensors.add(MSTensor.owned(output));
    }
    if (!future.complete(tensors)) {
      tensors.forEach(MSTensor::free); // canceled: nobody gets them
    }
  }

  /** Canceling it ends the request. */
  private final class Request extends CompletableFuture<List<MSTensor>> {
    @Override
    public boolean cancel(boolean mayInterruptIfRunning) {
      boolean wasOpen = !isDone();
      boolean isCancelled = super.cancel(mayInterruptIfRunning);
      if (wasOpen && isCancelled && request != 0) {
        try {
          ModelNative.nativeCancelRequest(request);
        } catch (HandleMisuseException e) {
          return isCancelled; // it has ended meanwhile
        }
      }
      return isCancelled;
    }
  }
}
