package com.mindspore;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;

/** The result of a request of {@code predictAsync}. The native library calls it when the request has ended. */
final class AsyncResult {
  final CompletableFuture<List<MSTensor>> future = new Request();
  volatile long request; // 0 until it has been given to the native library

  /** Called by the native library on the thread that ran the request. {@code code} is 0 for success. */
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

  /** A future that cancels the request when it is canceled. */
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
