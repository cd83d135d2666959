package com.mindspore;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;

/** What the native library calls when a request of {@code predictAsync} has ended. */
final class AsyncResult {
  final CompletableFuture<List<MSTensor>> future = new CompletableFuture<>();

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
      tensors.forEach(MSTensor::free); // cancelled: nobody gets them
    }
  }
}
